import { checkPathSegment, fieldRequired, type IPAddress, type StatusCause } from '@skerry/api'
import {
  addInvalid,
  checkNotEmpty,
  checkSubdomainField,
  checkUnchanged,
  type Found,
} from '../checks.ts'
import { checkCanonicalIp } from '../ip-text.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'

export const ipAddressStrategy = strategyOf<IPAddress>({
  hasGeneration: false,
  // The name is the address itself, and IPv6 has colons.
  nameRule: 'path-segment',
  validate: validateIpAddress,
  validateForm: validateIpAddress,
  validateUpdate(next, old) {
    const found: Found = []
    checkUnchanged(next.spec?.parentRef, old.spec?.parentRef, 'spec.parentRef', found)
    return found
  },
})

function validateIpAddress(address: LooseObject<IPAddress>): StatusCause[] {
  const found: Found = []
  // A missing name is reported alone.
  if (address.metadata.name) checkCanonicalIp(address.metadata.name, 'metadata.name', found)
  const parent = address.spec?.parentRef
  const path = 'spec.parentRef'
  if (!parent) {
    found.push(fieldRequired(path))
    return found
  }
  if (parent.group) checkSubdomainField(parent.group, `${path}.group`, found)
  for (const name of ['resource', 'name'] as const) {
    const value = parent[name] ?? ''
    if (!checkNotEmpty(value, `${path}.${name}`, found)) continue
    addInvalid(found, `${path}.${name}`, value, checkPathSegment(value))
  }
  return found
}
