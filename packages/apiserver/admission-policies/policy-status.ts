import { isStatusError, type Kind, type ValidatingAdmissionPolicy } from '@skerry/api'
import { asError, createWakeFlag, type Clock, type Logger } from '@skerry/base'
import { followResource } from '../cache/follow-resource.ts'
import { resourceKey, type WatchCache } from '../cache/watch-cache.ts'
import type { Objects } from '../contract/objects.ts'
import { typed } from '../contract/typed-objects.ts'
import { apiServerBounds } from '../limits-table.ts'

export interface PolicyStatusDeps {
  readonly objects: Objects
  readonly cache: WatchCache
  readonly kinds: () => readonly Kind[]
  readonly clock: Clock
  readonly log: Logger
}

export const validatingPolicies = Object.freeze({
  group: 'admissionregistration.k8s.io',
  resource: 'validatingadmissionpolicies',
})
const { retryMs } = apiServerBounds.policyStatus

/**
 * Writes into each policy's status which of its expressions do not fit the schemas of the resources
 * it matches. The type checker is loaded with the first policy.
 */
export async function runPolicyStatus(deps: PolicyStatusDeps, signal: AbortSignal): Promise<void> {
  const { cache, objects, clock, log } = deps
  const changed = createWakeFlag()
  const wake = (): void => changed.raise()
  const { group, resource } = validatingPolicies
  const follower = { onEvent: wake, onReset: wake }
  using _listening = followResource(cache, resourceKey(group, resource), follower)
  while (!signal.aborted) {
    try {
      for (const object of objects.list(validatingPolicies)) {
        await checkPolicy(typed<ValidatingAdmissionPolicy>(object), deps)
      }
      await changed.wait(signal)
    } catch (error) {
      if (signal.aborted) return
      const cause = asError(error)
      log.error('Policies are not type-checked yet', { error: cause })
      await clock.sleep(retryMs, signal)
    }
  }
}

async function checkPolicy(
  policy: ValidatingAdmissionPolicy,
  { objects, kinds }: PolicyStatusDeps,
): Promise<void> {
  const { generation = 0, name = '' } = policy.metadata
  if (generation <= (policy.status?.observedGeneration ?? 0)) return
  const { checkPolicyTypes } = await import('./type-check.ts')
  const expressionWarnings = checkPolicyTypes(policy, kinds())
  const typeChecking = expressionWarnings.length > 0 ? { expressionWarnings } : {}
  const key = { namespace: '', name, subresource: 'status' }
  try {
    await objects.update(validatingPolicies, key, (next) => {
      next['status'] = { observedGeneration: generation, typeChecking }
    })
  } catch (error) {
    // The policy was deleted meanwhile.
    if (!isStatusError(error, 'NotFound')) throw error
  }
}
