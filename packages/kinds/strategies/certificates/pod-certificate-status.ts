import {
  fieldInvalid,
  fieldNotSupported,
  fieldTooLong,
  invalidOmitted,
  type PodCertificateRequest,
  type StatusCause,
} from '@skerry/api'
import { isLongerThan, isSame, type Found } from '../checks.ts'
import { checkConditions } from '../conditions.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'
import { kindsBounds } from '../../limits-table.ts'

type Request = LooseObject<PodCertificateRequest>
type Status = NonNullable<Loose<PodCertificateRequest>['status']>

const ends = ['Issued', 'Denied', 'Failed']
const { chainBytesMax } = kindsBounds.podCertificateStatus

/** A signer may write one final state, once. The code that parses X.509 checks the issued certificate. */
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
  if (end === 'Issued') {
    const { certificateChain: chain = '' } = status
    const field = 'status.certificateChain'
    return isLongerThan(chain, chainBytesMax) ? [fieldTooLong(field, chainBytesMax)] : []
  }
  if (end === undefined) {
    if (isSame(status, old.status ?? {})) return []
    const detail = 'status is immutable unless transitioning to "Issued", "Denied", or "Failed"'
    return [invalidOmitted('status', detail)]
  }
  if (isSame(status, { conditions: status.conditions })) return []
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
    // In upstream's path the index is a name of its own.
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
