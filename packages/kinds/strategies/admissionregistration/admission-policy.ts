import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '@skerry/api'
import { loadExpressions } from '../../expressions/expressions.ts'
import { statusApart } from '../keep-fields.ts'
import { strategyOf } from '../typed-strategy.ts'
import { applyMatchResourcesDefaults } from './webhook-defaults.ts'
import { validateMutatingBinding, validateValidatingBinding } from './binding-validation.ts'
import { validateMutatingPolicy, validateValidatingPolicy } from './policy-validation.ts'
import { warningsOfFileNames } from './name-warnings.ts'

export const validatingAdmissionPolicyStrategy = strategyOf<ValidatingAdmissionPolicy>({
  load: loadExpressions,
  warnings: warningsOfFileNames,
  validate: validateValidatingPolicy,
  validateUpdate: validateValidatingPolicy,
  ...statusApart,
  hasGeneration: true,
  allowUnconditionalUpdate: false,
  defaults(policy) {
    const spec = (policy.spec ??= {})
    policy.status ??= {}
    spec.failurePolicy ??= 'Fail'
    applyMatchResourcesDefaults(spec.matchConstraints)
  },
})

export const validatingAdmissionPolicyBindingStrategy =
  strategyOf<ValidatingAdmissionPolicyBinding>({
    warnings: warningsOfFileNames,
    validate: validateValidatingBinding,
    validateUpdate: validateValidatingBinding,
    hasGeneration: true,
    allowUnconditionalUpdate: false,
    defaults(binding) {
      applyMatchResourcesDefaults((binding.spec ??= {}).matchResources)
    },
  })

export const mutatingAdmissionPolicyStrategy = strategyOf<MutatingAdmissionPolicy>({
  load: loadExpressions,
  warnings: warningsOfFileNames,
  validate: validateMutatingPolicy,
  validateUpdate: validateMutatingPolicy,
  hasGeneration: true,
  allowUnconditionalUpdate: false,
  defaults(policy) {
    const spec = (policy.spec ??= {})
    spec.failurePolicy ??= 'Fail'
    applyMatchResourcesDefaults(spec.matchConstraints)
  },
})

export const mutatingAdmissionPolicyBindingStrategy = strategyOf<MutatingAdmissionPolicyBinding>({
  warnings: warningsOfFileNames,
  validate: validateMutatingBinding,
  validateUpdate: validateMutatingBinding,
  hasGeneration: true,
  allowUnconditionalUpdate: false,
  defaults(binding) {
    applyMatchResourcesDefaults((binding.spec ??= {}).matchResources)
  },
})
