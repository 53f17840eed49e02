import { asError } from '@skerry/base'
import { isStatusError, type KubeObject } from '@skerry/api'
import { keyOfObject, resources } from '@skerry/client'
import type { BackgroundController } from '@skerry/controller-runtime'
import { whenServed } from '../reconcile/when-served.ts'
import { controllerBounds } from '../limits-table.ts'

const { keptMs, checkMs } = controllerBounds.podCertificateRequestCleanerController

export function isOld({ metadata }: KubeObject, nowMs: number): boolean {
  return nowMs >= Date.parse(metadata.creationTimestamp ?? '') + keptMs
}

/** Removes pods' requests for certificates, whatever their result. */
export const podCertificateRequestCleanerController: BackgroundController = whenServed(
  resources.podCertificateRequests,
  {
    name: 'podcertificaterequest-cleaner-controller',
    async run(deps, signal) {
      const requests = deps.informers.informer(resources.podCertificateRequests)
      const client = deps.informers.client(resources.podCertificateRequests)
      await requests.whenSynced(signal)
      for (;;) {
        const nowMs = deps.clock.now()
        for (const request of requests.list().filter((each) => isOld(each, nowMs))) {
          const { namespace, name = '', uid = '' } = request.metadata
          try {
            await client.delete({ namespace, name, preconditions: { uid } }, signal)
          } catch (error) {
            if (signal.aborted) throw signal.reason
            if (isStatusError(error, 'NotFound')) continue
            deps.log.info('Request not removed, trying again', {
              request: keyOfObject(request),
              error: asError(error),
            })
          }
        }
        await deps.clock.sleep(checkMs, signal)
      }
    },
  },
)
