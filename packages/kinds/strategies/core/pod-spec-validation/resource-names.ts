import { fieldInvalid, checkQualifiedName, formatQuantity, parseQuantity } from '@skerry/api'
import { addInvalid, type Found } from '../../checks.ts'

const countedObjects = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]
const computeResources = ['cpu', 'memory', 'ephemeral-storage']
const quotaCompute = [
  ...computeResources,
  ...computeResources.map((name) => `requests.${name}`),
  ...computeResources.map((name) => `limits.${name}`),
]
const integerResources = new Set(countedObjects)
const quotaResources = new Set([...quotaCompute, 'requests.storage', ...countedObjects])
const standardResources = new Set([...quotaResources, 'storage'])

export function isHugePages(name: string): boolean {
  return name.startsWith('hugepages-')
}

/** Returns true for resources of Kubernetes itself, as opposed to those of device plugins. */
function isNativeResource(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/')
}

export function isExtendedResource(name: string): boolean {
  if (isNativeResource(name) || name.startsWith('requests.')) return false
  return checkQualifiedName(`requests.${name}`).length === 0
}

export function isOvercommitAllowed(name: string): boolean {
  return isNativeResource(name) && !isHugePages(name)
}

export function isQuotaResource(name: string): boolean {
  return quotaResources.has(name) || /^(requests\.)?hugepages-/.test(name)
}

export function checkResourceName(name: string, field: string, found: Found): boolean {
  const texts = checkQualifiedName(name)
  addInvalid(found, field, name, texts)
  if (texts.length > 0) return false
  if (name.includes('/') || standardResources.has(name) || /^(requests\.)?hugepages-/.test(name)) {
    return true
  }
  const detail = 'must be a standard resource type or fully qualified'
  found.push(fieldInvalid(field, name, detail))
  return false
}

export function checkContainerResourceName(name: string, field: string, found: Found): void {
  checkResourceName(name, field, found)
  if (!name.includes('/')) {
    if (computeResources.includes(name) || isHugePages(name)) return
    found.push(fieldInvalid(field, name, 'must be a standard resource for containers'))
  } else if (!isNativeResource(name) && !isExtendedResource(name)) {
    found.push(fieldInvalid(field, name, "doesn't follow extended resource name standard"))
  }
}

export function checkQuotaResourceName(name: string, field: string, found: Found): void {
  checkResourceName(name, field, found)
  if (!name.includes('/') && !isQuotaResource(name)) {
    found.push(fieldInvalid(field, name, 'must be a standard resource for quota'))
  }
}

/** No amount may be negative, and countable ones must be whole. */
export function checkResourceAmount(
  name: string,
  amount: string,
  field: string,
  found: Found,
): void {
  const quantity = parseQuantity(amount)
  if (quantity.nanos < 0n) {
    const detail = 'must be greater than or equal to 0'
    found.push(fieldInvalid(field, formatQuantity(quantity), detail))
  }
  const isWhole = quantity.nanos % 1_000_000_000n === 0n
  if (!isWhole && (integerResources.has(name) || isExtendedResource(name))) {
    found.push(fieldInvalid(field, formatQuantity(quantity), 'must be an integer'))
  }
}
