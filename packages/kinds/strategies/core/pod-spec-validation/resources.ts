import {
  compareQuantities,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  parseQuantity,
  printFieldValue,
  type CoreV1ResourceClaim,
  type ResourceRequirements,
} from '@skerry/api'
import { checkLabelField, type Found } from '../../checks.ts'
import {
  checkContainerResourceName,
  checkResourceAmount,
  checkResourceName,
  isHugePages,
  isOvercommitAllowed,
} from './resource-names.ts'
import type { Loose } from '../../typed-strategy.ts'
import { isPodLevelResource } from './pod-level-resources.ts'

type Requirements = Loose<ResourceRequirements>

type NameCheck = (name: string, field: string, found: Found) => void

export function checkRequirements(
  requirements: Requirements,
  claimNames: ReadonlySet<string>,
  path: string,
  found: Found,
): void {
  checkAmounts(requirements, checkContainerResourceName, path, found)
  checkClaims(requirements.claims ?? [], claimNames, path, found)
}

/** Resources of the pod as a whole. */
export function checkPodRequirements(
  requirements: Requirements,
  claimNames: ReadonlySet<string>,
  path: string,
  found: Found,
): void {
  checkAmounts(requirements, checkPodResourceName, path, found)
  checkClaims(requirements.claims ?? [], claimNames, path, found)
}

function checkPodResourceName(name: string, field: string, found: Found): void {
  const before = found.length
  checkResourceName(name, field, found)
  if (found.length > before || isPodLevelResource(name)) return
  found.push(fieldNotSupported(field, name, ['cpu', 'hugepages-', 'memory']))
}

function checkAmounts(
  requirements: Requirements,
  checkName: NameCheck,
  path: string,
  found: Found,
): void {
  const { limits = {}, requests = {} } = requirements
  for (const [name, amount] of Object.entries(limits)) {
    checkAmount(name, amount, { field: `${path}.limits[${name}]`, checkName }, found)
  }
  for (const [name, amount] of Object.entries(requests)) {
    const field = `${path}.requests[${name}]`
    checkName(name, field, found)
    checkResourceAmount(name, amount, field, found)
    checkAgainstLimit(name, amount, { limit: limits[name], path }, found)
    checkHugePages(name, amount, field, found)
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)]
  const hasCompute = names.some((name) => name === 'cpu' || name === 'memory')
  if (!hasCompute && names.some(isHugePages)) {
    found.push(fieldForbidden(path, 'HugePages require cpu or memory'))
  }
}

function checkAmount(
  name: string,
  amount: string,
  place: { field: string; checkName: NameCheck },
  found: Found,
): void {
  place.checkName(name, place.field, found)
  checkResourceAmount(name, amount, place.field, found)
  checkHugePages(name, amount, place.field, found)
}

function checkAgainstLimit(
  name: string,
  request: string,
  place: { limit: string | undefined; path: string },
  found: Found,
): void {
  const { limit, path } = place
  if (limit === undefined) {
    if (isOvercommitAllowed(name)) return
    const detail = 'Limit must be set for non overcommitable resources'
    found.push(fieldRequired(`${path}.limits`, detail))
    return
  }
  const order = compareQuantities(parseQuantity(request), parseQuantity(limit))
  if (order !== 0 && !isOvercommitAllowed(name)) {
    const detail = `must be equal to ${name} limit of ${limit}`
    found.push(fieldInvalid(`${path}.requests`, request, detail))
  } else if (order > 0) {
    const detail = `must be less than or equal to ${name} limit of ${limit}`
    found.push(fieldInvalid(`${path}.requests`, request, detail))
  }
}

function checkHugePages(name: string, amount: string, field: string, found: Found): void {
  if (!isHugePages(name)) return
  const pageSize = parseQuantity(name.slice('hugepages-'.length))
  const { nanos } = parseQuantity(amount)
  if (pageSize.nanos > 0n && nanos % pageSize.nanos === 0n) return
  found.push(fieldInvalid(field, amount, `${amount} is not positive integer multiple of ${name}`))
}

function checkClaims(
  claims: readonly Loose<CoreV1ResourceClaim>[],
  claimNames: ReadonlySet<string>,
  path: string,
  found: Found,
): void {
  const seen = new Set<string>()
  for (const [at, { name = '', request = '' }] of claims.entries()) {
    const field = `${path}.claims[${at}]`
    if (!name) {
      found.push(fieldRequired(field))
      continue
    }
    if (request) checkLabelField(request, `${field}.request`, found)
    const key = request ? `${name}/${request}` : name
    const isWhole = request === ''
    const overlaps = [...seen].some((other) => other.startsWith(`${name}/`))
    if (seen.has(name)) found.push(fieldDuplicate(field, name))
    else if (seen.has(key) || (isWhole && overlaps)) found.push(fieldDuplicate(field, key))
    seen.add(key)
    if (!claimNames.has(name)) found.push(unknownClaim(name, claimNames, field))
  }
}

function unknownClaim(name: string, claimNames: ReadonlySet<string>, field: string): Found[number] {
  const known = [...claimNames].toSorted()
  const rest = known.length === 0 ? ' which is empty' : `: ${known.join(', ')}`
  const detail = `must be one of the names in pod.spec.resourceClaims${rest}`
  return {
    reason: 'FieldValueNotFound',
    message: `Not found: ${printFieldValue(name)}: ${detail}`,
    field,
  }
}
