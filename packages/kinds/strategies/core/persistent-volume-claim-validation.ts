import {
  cloneJson,
  compareQuantities,
  fieldForbidden,
  fieldNotSupported,
  fieldRequired,
  parseQuantity,
  type PersistentVolumeClaim,
  type PersistentVolumeClaimSpec,
  type StatusCause,
} from '@skerry/api'
import { changedFields } from '../changed-fields.ts'
import { checkUnchanged, isSame, type Found } from '../checks.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'
import { checkClaimSpec } from './pod-spec-validation/claim-spec-validation.ts'
import { checkResourceAmount } from './pod-spec-validation/resource-names.ts'

type Claim = LooseObject<PersistentVolumeClaim>

export function validateClaim(claim: Claim): StatusCause[] {
  const found: Found = []
  checkClaimSpec(claim.spec ?? {}, 'spec', found)
  return found
}

export function validateClaimUpdate(next: Claim, old: Claim): StatusCause[] {
  const found = validateClaim(next)
  const { spec = {} } = next
  const before = old.spec ?? {}
  const rest = withoutMutable(spec, next, before)
  if (!isSame(rest, before)) {
    const detail =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims'
    found.push(fieldForbidden('spec', `${detail}\n${changedFields(rest, before)}`))
  }
  checkSize(spec, old, found)
  checkUnchanged(spec.volumeMode, before.volumeMode, 'volumeMode', found)
  if (old.status?.currentVolumeAttributesClassName !== undefined) {
    const name = spec.volumeAttributesClassName
    if (name === undefined || name === '') {
      const what = name === undefined ? 'nil' : 'empty string'
      const detail = `update to ${what} is forbidden when status.currentVolumeAttributesClassName is not nil`
      found.push(fieldForbidden('spec.volumeAttributesClassName', detail))
    }
  }
  return found
}

/** Returns the new spec with the old values of the fields that may change. */
function withoutMutable(
  spec: Loose<PersistentVolumeClaimSpec>,
  claim: Claim,
  old: Loose<PersistentVolumeClaimSpec>,
): Loose<PersistentVolumeClaimSpec> {
  const rest = cloneJson(spec)
  if (!old.volumeName) rest.volumeName = old.volumeName
  if (old.storageClassName === undefined) delete rest.storageClassName
  if (claim.status?.phase !== 'Bound') return rest
  const storage = old.resources?.requests?.['storage']
  if (rest.resources?.requests && storage !== undefined)
    rest.resources.requests['storage'] = storage
  rest.volumeAttributesClassName = old.volumeAttributesClassName
  return rest
}

/** A claim that failed to grow may request less again, but not less than it has. */
function checkSize(spec: Loose<PersistentVolumeClaimSpec>, old: Claim, found: Found): void {
  const size = parseQuantity(spec.resources?.requests?.['storage'] ?? '0')
  const before = parseQuantity(old.spec?.resources?.requests?.['storage'] ?? '0')
  const actual = parseQuantity(old.status?.capacity?.['storage'] ?? '0')
  if (compareQuantities(size, before) >= 0 || compareQuantities(size, actual) > 0) return
  const detail = 'field can not be less than status.capacity'
  found.push(fieldForbidden('spec.resources.requests.storage', detail))
}

const resizeStates = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
]

export function validateClaimStatus(next: Claim): StatusCause[] {
  const found: Found = []
  const { status = {} } = next
  if ((next.spec?.accessModes ?? []).length === 0) found.push(fieldRequired('Spec.accessModes'))
  for (const list of ['capacity', 'allocatedResources'] as const) {
    for (const [name, amount] of Object.entries(status[list] ?? {})) {
      checkResourceAmount(name, amount, `status.${list}[${name}]`, found)
    }
  }
  for (const [name, state] of Object.entries(status.allocatedResourceStatuses ?? {})) {
    if (resizeStates.includes(state)) continue
    found.push(fieldNotSupported('status.allocatedResourceStatuses', name, resizeStates))
  }
  return found
}
