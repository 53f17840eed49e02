import type {
  DeviceClaim,
  DeviceSelector,
  ResourceClaim,
  ResourceClaimTemplate,
} from '../../generated/types.ts'
import { fieldDuplicate, fieldInvalid, fieldRequired, fieldTooMany } from '../../field-error.ts'
import type { StatusCause } from '../../status-error.ts'
import { checkLabelField, checkNotEmpty, checkUnchanged, type Found } from '../checks.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'

export function validateResourceClaim(claim: LooseObject<ResourceClaim>): StatusCause[] {
  const found: Found = []
  checkDevices(claim.spec?.devices ?? {}, 'spec.devices', found)
  return found
}

export function validateResourceClaimUpdate(
  next: LooseObject<ResourceClaim>,
  old: LooseObject<ResourceClaim>,
): StatusCause[] {
  const found: Found = []
  checkUnchanged(next.spec, old.spec, 'spec', found)
  return found
}

export function validateResourceClaimTemplate(
  template: LooseObject<ResourceClaimTemplate>,
): StatusCause[] {
  const found: Found = []
  checkDevices(template.spec?.spec?.devices ?? {}, 'spec.spec.devices', found)
  return found
}

export function validateResourceClaimTemplateUpdate(
  next: LooseObject<ResourceClaimTemplate>,
  old: LooseObject<ResourceClaimTemplate>,
): StatusCause[] {
  const found = validateResourceClaimTemplate(next)
  checkUnchanged(next.spec, old.spec, 'spec', found)
  return found
}

function checkDevices(claim: Loose<DeviceClaim>, path: string, found: Found): void {
  const names = new Set<string>()
  for (const [at, request] of (claim.requests ?? []).entries()) {
    const field = `${path}.requests[${at}]`
    const { name = '', exactly, firstAvailable = [] } = request
    if (checkNotEmpty(name, `${field}.name`, found)) checkLabelField(name, `${field}.name`, found)
    if (name && names.has(name)) found.push(fieldDuplicate(`${field}.name`, name))
    names.add(name)
    const isFlat = 'deviceClassName' in request
    if (exactly) {
      checkNotEmpty(exactly.deviceClassName, `${field}.exactly.deviceClassName`, found)
      checkSelectors(exactly.selectors ?? [], `${field}.exactly.selectors`, found)
    }
    if (exactly && firstAvailable.length > 0) {
      const detail =
        'exactly one of `exactly` or `firstAvailable` must be specified, but multiple fields are set'
      found.push(fieldInvalid(field, null, detail))
    }
    if (!exactly && !isFlat && firstAvailable.length === 0) {
      const detail = 'exactly one of `exactly` or `firstAvailable` is required'
      found.push(fieldRequired(field, detail))
    }
  }
}

const selectorsMax = 32

export function checkSelectors(
  selectors: readonly Loose<DeviceSelector>[],
  path: string,
  found: Found,
): void {
  if (selectors.length > selectorsMax) {
    found.push(fieldTooMany(path, selectors.length, selectorsMax))
  }
  for (const [at, { cel }] of selectors.entries()) {
    if (!cel) found.push(fieldRequired(`${path}[${at}].cel`))
  }
}
