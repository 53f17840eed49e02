import type { PodCertificateRequest } from '../../generated/types.ts'
import { fieldInvalid, fieldNotSupported, fieldRequired, fieldTooLong } from '../../field-error.ts'
import type { StatusCause } from '../../status-error.ts'
import { isLongerThan, isSame, type Found } from '../checks.ts'
import { checkConditions } from '../conditions.ts'
import { invalidOmitted } from '../invalid-omitted.ts'
import { pemBlocks } from '../pem-text.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'

type Request = LooseObject<PodCertificateRequest>
type Status = NonNullable<Loose<PodCertificateRequest>['status']>

const ends = ['Issued', 'Denied', 'Failed']
const chainBytesMax = 100 * 1_024
const hourMs = 3_600_000
const marginMs = 600_000

/** What a signer may write: one end, once. Whether the certificate fits the key takes X.509. */
export function validateRequestStatus(next: Request, old: Request): StatusCause[] {
  const found: Found = []
  const { status = {} } = next
  checkEnds(status, found)
  checkConditions(status.conditions ?? [], 'status.conditions', found)
  if (found.length > 0) return found
  if (endOf(old.status) !== undefined) {
    if (isSame(status, old.status)) return []
    const detail = 'immutable after PodCertificateRequest is issued, denied, or failed'
    return [invalidOmitted('status', detail)]
  }
  const end = endOf(status)
  if (end === 'Issued') return checkIssued(status, next.spec?.maxExpirationSeconds ?? 0)
  if (end === undefined || isSame(status, { conditions: status.conditions })) return []
  const detail =
    'non-condition status fields must be empty when denying or failing the PodCertificateRequest'
  return [invalidOmitted('status', detail)]
}

function endOf(status: Status | undefined): string | undefined {
  return status?.conditions?.find(({ type = '' }) => ends.includes(type))?.type
}

function checkEnds({ conditions = [] }: Status, found: Found): void {
  let count = 0
  for (const [at, { type = '', status = '' }] of conditions.entries()) {
    // Upstream's path has the index as a name of its own.
    const field = `status.conditions.[${at}]`
    if (!ends.includes(type)) {
      found.push(fieldNotSupported(`${field}.type`, type, ends))
      continue
    }
    count += 1
    if (count > 1) {
      const detail = 'There may be at most one condition with type "Issued", "Denied", or "Failed"'
      found.push(fieldInvalid(`${field}.type`, type, detail))
    }
    if (status !== 'True') found.push(fieldNotSupported(`${field}.status`, status, ['True']))
  }
}

function checkIssued(status: Status, secondsMax: number): StatusCause[] {
  const { certificateChain: chain = '' } = status
  const field = 'status.certificateChain'
  if (isLongerThan(chain, chainBytesMax)) return [fieldTooLong(field, chainBytesMax)]
  const blocks = pemBlocks(chain)
  if (blocks.length === 0) {
    const detail = 'issued certificate chain must contain at least one certificate'
    return [fieldInvalid(field, chain, detail)]
  }
  if (blocks.some(({ type }) => type !== 'CERTIFICATE')) {
    const detail = 'issued certificate chain must consist entirely of CERTIFICATE PEM blocks'
    return [fieldInvalid(field, chain, detail)]
  }
  return checkTimes(status, secondsMax)
}

function checkTimes(status: Status, secondsMax: number): StatusCause[] {
  const { notBefore, notAfter, beginRefreshAt } = status
  const found: Found = []
  const consistent = 'must be present and consistent with the issued certificate'
  if (!notBefore) found.push(fieldRequired('status.notBefore', consistent))
  if (!notAfter) found.push(fieldRequired('status.notAfter', consistent))
  if (!beginRefreshAt) {
    const detail = 'must be present and in the range [notbefore+10min, notafter-10min]'
    found.push(fieldRequired('status.beginRefreshAt', detail))
  }
  if (!notBefore || !notAfter || !beginRefreshAt) return found
  const [from, to, refresh] = [notBefore, notAfter, beginRefreshAt].map((text) => Date.parse(text))
  return checkLifetime({ from, to, refresh }, { secondsMax, beginRefreshAt })
}

function checkLifetime(
  { from = 0, to = 0, refresh = 0 }: Partial<Record<'from' | 'to' | 'refresh', number | undefined>>,
  { secondsMax, beginRefreshAt }: { secondsMax: number; beginRefreshAt: string },
): StatusCause[] {
  const wrong = (field: string, value: unknown, detail: string): StatusCause[] => [
    fieldInvalid(`status.${field}`, value, detail),
  ]
  const lifetime = `${(to - from) / 1_000}s`
  if (to - from < hourMs) {
    return wrong('certificateChain', lifetime, 'leaf certificate lifetime must be >= 1 hour')
  }
  if (to - from > secondsMax * 1_000) {
    const bound = `spec.maxExpirationSeconds (${secondsMax})`
    return wrong('certificateChain', lifetime, `leaf certificate lifetime must be <= ${bound}`)
  }
  const place = 'must be at least 10 minutes'
  if (refresh < from + marginMs) {
    return wrong('beginRefreshAt', beginRefreshAt, `${place} after status.notBefore`)
  }
  if (refresh > to - marginMs) {
    return wrong('beginRefreshAt', beginRefreshAt, `${place} before status.notAfter`)
  }
  return []
}
