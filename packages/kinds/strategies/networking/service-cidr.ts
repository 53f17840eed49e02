import { fieldInvalid, fieldRequired, type ServiceCIDR, type StatusCause } from '@skerry/api'
import { isSame, type Found } from '../checks.ts'
import { checkCanonicalCidr, isOnePerFamily, cidrOf } from '../ip-text.ts'
import { statusApart } from '../keep-fields.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'

export const serviceCidrStrategy = strategyOf<ServiceCIDR>({
  ...statusApart,
  hasGeneration: false,
  defaults(cidr) {
    cidr.spec ??= {}
    cidr.status ??= {}
  },
  validate: validateServiceCidr,
  validateUpdate(next, old) {
    const cidrs = next.spec?.cidrs ?? []
    const before = old.spec?.cidrs ?? []
    if (isSame(cidrs, before)) return []
    const isSecondAdded = before.length === 1 && cidrs.length === 2 && cidrs[0] === before[0]
    if (isSecondAdded) return validateServiceCidr(next)
    const at = cidrs.findIndex((cidr, index) => cidr !== before[index])
    if (cidrs.length === before.length && at >= 0) {
      return [fieldInvalid(`spec.cidrs[${at}]`, cidrs[at] ?? null, 'field is immutable')]
    }
    return [fieldInvalid('spec.cidrs', cidrs, 'field is immutable')]
  },
})

function validateServiceCidr(object: LooseObject<ServiceCIDR>): StatusCause[] {
  const found: Found = []
  const field = 'spec.cidrs'
  const cidrs = object.spec?.cidrs ?? []
  if (cidrs.length === 0) found.push(fieldRequired(field, 'at least one CIDR required'))
  if (cidrs.length > 2) {
    found.push(fieldInvalid(field, { CIDRs: cidrs }, 'may only hold up to 2 values'))
    return found
  }
  for (const [at, cidr] of cidrs.entries()) checkCanonicalCidr(cidr, `${field}[${at}]`, found)
  const parsed = cidrs.map((cidr) => cidrOf(cidr)?.bytes)
  if (cidrs.length === 2 && parsed.every(Boolean) && !isOnePerFamily(parsed)) {
    const detail =
      'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64'
    found.push(fieldInvalid(field, cidrs, detail))
  }
  return found
}
