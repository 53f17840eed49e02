import {
  compareQuantities,
  addQuantities,
  formatQuantity,
  isJsonObject,
  parseQuantity,
  quantityOf,
  quantityOfMilli,
  quantityToMilli,
  quantityToNumber,
  type JsonObject,
  type NodeSelector,
  type Quantity,
  type Toleration,
} from '@skerry/api'
import type { ReplicaRequirements } from '@skerry/karmada-kinds'
import { fieldAt, objectsAt } from '@skerry/fleet-kinds'

/**
 * Returns what one pod of this spec requires of a node, as Karmada computes it; undefined if nothing. A limit
 * without a request counts as a request. Throws QuantityError for an invalid quantity.
 */
export function podRequirements(podSpec: JsonObject): ReplicaRequirements | undefined {
  const nodeClaim = nodeClaimOf(podSpec)
  const resourceRequest = requestOf(podSpec)
  if (nodeClaim === undefined && resourceRequest === undefined) return undefined
  return { ...(nodeClaim ? { nodeClaim } : {}), ...(resourceRequest ? { resourceRequest } : {}) }
}

function nodeClaimOf(podSpec: JsonObject): ReplicaRequirements['nodeClaim'] {
  const hard = fieldAt(
    podSpec,
    'affinity',
    'nodeAffinity',
    'requiredDuringSchedulingIgnoredDuringExecution',
  )
  const nodeSelector = fieldAt(podSpec, 'nodeSelector')
  const tolerations = objectsAt(podSpec, 'tolerations')
  const claim = {
    // The API server that keeps the object has checked these fields.
    ...(isJsonObject(hard) ? { hardNodeAffinity: hard as unknown as NodeSelector } : {}),
    ...(isJsonObject(nodeSelector) ? { nodeSelector: nodeSelector as Record<string, string> } : {}),
    ...(tolerations.length > 0 ? { tolerations: tolerations as unknown as Toleration[] } : {}),
  }
  return Object.keys(claim).length > 0 ? claim : undefined
}

type Quantities = Map<string, Quantity>

/** The sum of the containers, or one init container where that asks for more; then the overhead. */
function requestOf(podSpec: JsonObject): Record<string, string> | undefined {
  const total: Quantities = new Map()
  for (const container of objectsAt(podSpec, 'containers')) add(total, requestsOf(container))
  for (const container of objectsAt(podSpec, 'initContainers')) {
    for (const [name, quantity] of requestsOf(container)) {
      const known = total.get(name)
      if (known === undefined || compareQuantities(quantity, known) > 0) total.set(name, quantity)
    }
  }
  add(total, quantitiesAt(podSpec, 'overhead'))
  const entries = [...total].filter(([, { nanos }]) => nanos > 0n)
  if (entries.length === 0) return undefined
  return Object.fromEntries(entries.map(([name, quantity]) => [name, formatQuantity(quantity)]))
}

function add(total: Quantities, more: Quantities): void {
  for (const [name, quantity] of more) {
    const known = total.get(name)
    total.set(name, known === undefined ? quantity : addQuantities(known, quantity))
  }
}

function requestsOf(container: JsonObject): Quantities {
  const limits = quantitiesAt(container, 'resources', 'limits')
  return new Map([...limits, ...quantitiesAt(container, 'resources', 'requests')])
}

function quantitiesAt(object: JsonObject, ...path: readonly string[]): Quantities {
  const found = fieldAt(object, ...path)
  const quantities: Quantities = new Map()
  if (!isJsonObject(found)) return quantities
  for (const [name, value] of Object.entries(found)) {
    // A number is a quantity, too: 2 is "2".
    const text = typeof value === 'number' ? String(value) : value
    if (typeof text === 'string' && isCounted(name)) quantities.set(name, wholeQuantity(name, text))
  }
  return quantities
}

const binaryNames: ReadonlySet<string> = new Set(['memory', 'ephemeral-storage'])

/** Rounds up to the unit in which the resource is counted. */
function wholeQuantity(name: string, text: string): Quantity {
  const quantity = parseQuantity(text)
  if (name === 'cpu') return quantityOfMilli(quantityToMilli(quantity))
  const isBinary = binaryNames.has(name) || name.startsWith('hugepages-')
  return quantityOf(quantityToNumber(quantity), isBinary ? 'BinarySI' : 'DecimalSI')
}

/** Leaves out resources that schedulers do not count. */
function isCounted(name: string): boolean {
  return (
    ['cpu', 'pods'].includes(name) ||
    binaryNames.has(name) ||
    name.startsWith('hugepages-') ||
    name.startsWith('attachable-volumes-') ||
    (name.includes('/') && !name.startsWith('requests.'))
  )
}
