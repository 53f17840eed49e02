import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '@skerry/api'
import type { AdmissionPlugin } from '../contract/admission.ts'
import type { PluginDeps } from '../webhooks/plugin-deps.ts'
import { isExempt, isReview } from '../admission-matching/request-match.ts'
import { createPolicySource, type PolicyHook } from './policy-source.ts'

export type ValidatingHook = PolicyHook<ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding>

const group = 'admissionregistration.k8s.io'

/**
 * Evaluates ValidatingAdmissionPolicies. The evaluator is loaded with the first request that one
 * may match.
 */
export function createValidatingPolicies(deps: PluginDeps): AdmissionPlugin {
  const source = createPolicySource<ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding>(
    deps.objects,
    {
      policies: { group, resource: 'validatingadmissionpolicies' },
      bindings: { group, resource: 'validatingadmissionpolicybindings' },
    },
  )
  return {
    name: 'ValidatingAdmissionPolicy',
    handles: (request) =>
      !request.isInternal && source().length > 0 && !isExempt(request) && !isReview(request),
    async validate(request) {
      const { validateByPolicies } = await import('./validate-by-policies.ts')
      await validateByPolicies(source(), request, deps)
    },
  }
}
