import { asError } from '@skerry/base'
import { isStatusError, type CertificateSigningRequest } from '@skerry/api'
import { resources } from '@skerry/client'
import type { BackgroundController } from '@skerry/controller-runtime'
import { readCertificate } from '@skerry/pki'

const hourMs = 3_600_000

/** Upstream's times: an hour if approved or denied, a day if pending. */
const keptMs = Object.freeze({ done: hourMs, pending: 24 * hourMs })
const checkMs = hourMs

/** Returns true if nobody needs the request any more. */
export function isStale({ metadata, status }: CertificateSigningRequest, nowMs: number): boolean {
  const isOlder = (text: string | null | undefined, ms: number): boolean =>
    typeof text === 'string' && nowMs - Date.parse(text) > ms
  const { conditions = [], certificate } = status ?? {}
  if (conditions.length === 0) return isOlder(metadata.creationTimestamp, keptMs.pending)
  return conditions.some(({ type, lastUpdateTime }) => {
    if (type === 'Denied' || type === 'Failed') return isOlder(lastUpdateTime, keptMs.done)
    if (type !== 'Approved') return false
    if (!certificate) return isOlder(lastUpdateTime, keptMs.pending)
    return isOlder(lastUpdateTime, keptMs.done) || isExpired(certificate, nowMs)
  })
}

/** An unreadable certificate does not count as expired. */
function isExpired(certificate: string, nowMs: number): boolean {
  try {
    return nowMs > readCertificate(Buffer.from(certificate, 'base64').toString()).notAfterMs
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
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
              error: asError(error),
            })
          }
        }
      }
      await deps.clock.sleep(checkMs, signal)
    }
  },
}
