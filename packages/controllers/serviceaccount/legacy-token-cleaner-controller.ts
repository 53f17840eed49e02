import { asError } from '@skerry/base'
import { isStatusError, type Secret } from '@skerry/api'
import { keyOfObject, resources } from '@skerry/client'
import {
  selected,
  type BackgroundController,
  type ControllerDeps,
} from '@skerry/controller-runtime'
import { dayOf, legacyTokenLabels, planLegacyTokens } from './legacy-token-plan.ts'
import { controllerBounds } from '../limits-table.ts'

const { checkMs } = controllerBounds.legacyTokenCleanerController
const tokenSecrets = selected(resources.secrets, {
  fieldSelector: 'type=kubernetes.io/service-account-token',
})
/** Where an API server that records the use of tokens says since when it does. */
const tracking = Object.freeze({
  namespace: 'kube-system',
  name: 'kube-apiserver-legacy-service-account-token-tracking',
})

/**
 * Marks and removes unused tokens in secrets. Acts only if the server records which are used;
 * otherwise all would look unused.
 */
export const legacyTokenCleanerController: BackgroundController = {
  name: 'legacy-serviceaccount-token-cleaner-controller',
  async run(deps, signal) {
    const secrets = deps.informers.informer(tokenSecrets)
    const accounts = deps.informers.informer(resources.serviceAccounts)
    const pods = deps.informers.informer(resources.pods)
    await Promise.all([secrets, accounts, pods].map((each) => each.whenSynced(signal)))
    for (;;) {
      const nowMs = deps.clock.now()
      const { invalidate, remove } = planLegacyTokens({
        secrets: secrets.list(),
        accounts: accounts.list(),
        pods: pods.list(),
        trackedSince: await readTrackedSince(deps, signal),
        nowMs,
      })
      const client = deps.informers.client(tokenSecrets)
      for (const secret of invalidate) {
        const { namespace, name = '', uid } = secret.metadata
        const labels = { [legacyTokenLabels.invalidSince]: dayOf(nowMs) }
        const patch = { metadata: { uid, labels } }
        const answer = client.patch({ namespace, name, type: 'merge', patch }, signal)
        await attempt(secret, answer, deps, signal)
      }
      for (const secret of remove) {
        const { namespace, name = '', resourceVersion = '' } = secret.metadata
        const request = { namespace, name, preconditions: { resourceVersion } }
        await attempt(secret, client.delete(request, signal), deps, signal)
      }
      await deps.clock.sleep(checkMs, signal)
    }
  },
}

/**
 * Resolves to an empty text if the server does not know or did not answer. Nothing is then done
 * until the next look.
 */
async function readTrackedSince(deps: ControllerDeps, signal: AbortSignal): Promise<string> {
  try {
    const found = await deps.cluster.resource(resources.configMaps).get(tracking, signal)
    return found.data?.['since'] ?? ''
  } catch (error) {
    if (signal.aborted) throw signal.reason
    deps.log.debug('Use of tokens in secrets is not tracked', {
      error: asError(error),
    })
    return ''
  }
}

/** A failed write is repeated at the next look. */
async function attempt(
  secret: Secret,
  answer: Promise<unknown>,
  { log }: ControllerDeps,
  signal: AbortSignal,
): Promise<void> {
  try {
    await answer
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (isStatusError(error, 'Conflict') || isStatusError(error, 'NotFound')) return
    log.info('Token in secret not cleaned up, trying again', {
      secret: keyOfObject(secret),
      error: asError(error),
    })
  }
}
