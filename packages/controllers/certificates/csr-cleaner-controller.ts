import { isStatusError, type CertificateSigningRequest } from '@skerry/api'
import { resources } from '@skerry/client'
import type { BackgroundController } from '@skerry/controller-runtime'

const hourMs = 3_600_000

/** Upstream's times: done or refused for an hour, or waiting for a day. */
const keptMs = Object.freeze({ done: hourMs, pending: 24 * hourMs })
const checkMs = hourMs

/** True when nobody needs the request any more. */
export function isStale(csr: CertificateSigningRequest, nowMs: number): boolean {
  const conditions = csr.status?.conditions ?? []
  const verdict = conditions.find((each) => ['Approved', 'Denied', 'Failed'].includes(each.type))
  const isDone =
    csr.status?.certificate !== undefined ||
    verdict?.type === 'Denied' ||
    verdict?.type === 'Failed'
  const sinceText = isDone
    ? (verdict?.lastUpdateTime ?? csr.metadata.creationTimestamp)
    : csr.metadata.creationTimestamp
  const sinceMs = Date.parse(sinceText ?? '')
  return nowMs - sinceMs > (isDone ? keptMs.done : keptMs.pending)
}

export const csrCleanerController: BackgroundController = {
  name: 'certificatesigningrequest-cleaner-controller',
  async run(deps, signal) {
    const csrs = deps.informers.informer(resources.certificateSigningRequests)
    await csrs.whenSynced(signal)
    for (;;) {
      for (const csr of csrs.list()) {
        if (!isStale(csr, deps.clock.now())) continue
        try {
          await deps.informers
            .client(csrs.resource)
            .delete({ name: csr.metadata.name ?? '' }, signal)
        } catch (error) {
          if (signal.aborted) throw signal.reason
          if (!isStatusError(error, 'NotFound')) {
            deps.log.error('Request not removed, trying again', {
              name: csr.metadata.name,
              error: error instanceof Error ? error : null,
            })
          }
        }
      }
      await deps.clock.sleep(checkMs, signal)
    }
  },
}
