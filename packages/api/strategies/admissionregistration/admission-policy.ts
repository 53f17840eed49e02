import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../generated/types.ts'
import { statusApart } from '../keep-fields.ts'
import { strategyOf } from '../typed-strategy.ts'
import { applyMatchResourcesDefaults } from './webhook-defaults.ts'

export const validatingAdmissionPolicyStrategy = strategyOf<ValidatingAdmissionPolicy>({
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
    hasGeneration: true,
    allowUnconditionalUpdate: false,
    defaults(binding) {
      applyMatchResourcesDefaults((binding.spec ??= {}).matchResources)
    },
  })

export const mutatingAdmissionPolicyStrategy = strategyOf<MutatingAdmissionPolicy>({
  hasGeneration: true,
  allowUnconditionalUpdate: false,
  defaults(policy) {
    const spec = (policy.spec ??= {})
    spec.failurePolicy ??= 'Fail'
    applyMatchResourcesDefaults(spec.matchConstraints)
  },
})

export const mutatingAdmissionPolicyBindingStrategy = strategyOf<MutatingAdmissionPolicyBinding>({
  hasGeneration: true,
  allowUnconditionalUpdate: false,
  defaults(binding) {
    applyMatchResourcesDefaults((binding.spec ??= {}).matchResources)
  },
})
