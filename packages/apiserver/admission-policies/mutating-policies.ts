import type { MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding } from '@skerry/api'
import type { AdmissionPlugin } from '../contract/admission.ts'
import type { PluginDeps } from '../webhooks/plugin-deps.ts'
import { isExempt, isReview } from '../admission-matching/request-match.ts'
import { mutatingPluginName } from './mutating-hook.ts'
import { createPolicySource } from './policy-source.ts'

const group = 'admissionregistration.k8s.io'

/** Evaluates MutatingAdmissionPolicies. The evaluator is loaded with the first request that one may match. */
export function createMutatingPolicies(deps: PluginDeps): AdmissionPlugin {
  const source = createPolicySource<MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding>(
    deps.objects,
    {
      policies: { group, resource: 'mutatingadmissionpolicies' },
      bindings: { group, resource: 'mutatingadmissionpolicybindings' },
    },
  )
  return {
    name: mutatingPluginName,
    handles: (request) =>
      !request.isInternal &&
      request.operation !== 'DELETE' &&
      source().length > 0 &&
      !isExempt(request) &&
      !isReview(request),
    async admit(request) {
      const { mutateByPolicies } = await import('./mutate-by-policies.ts')
      await mutateByPolicies(source(), request, deps)
    },
  }
}
