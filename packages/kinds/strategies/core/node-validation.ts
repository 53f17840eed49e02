import {
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  type Node,
  type StatusCause,
} from '@skerry/api'
import type { Found } from '../checks.ts'
import { checkCidr, isOnePerFamily, cidrOf } from '../ip-text.ts'
import type { LooseObject } from '../typed-strategy.ts'
import { checkTaints } from './pod-spec-validation/tolerations.ts'
import { checkResourceAmount } from './pod-spec-validation/resource-names.ts'

export function validateNode(node: LooseObject<Node>): StatusCause[] {
  const found: Found = []
  const { spec = {} } = node
  checkTaints(spec.taints ?? [], 'metadata.taints', found)
  checkAmounts(node, found)
  const cidrs = spec.podCIDRs ?? []
  for (const [at, cidr] of cidrs.entries()) checkCidr(cidr, `spec.podCIDRs[${at}]`, found)
  if (cidrs.length > 1 && !isOnePerFamily(cidrs.map((cidr) => cidrOf(cidr)?.bytes))) {
    const detail = 'may specify no more than one CIDR for each IP family'
    found.push(fieldInvalid('spec.podCIDRs', cidrs, detail))
  }
  return found
}

function checkAmounts(node: LooseObject<Node>, found: Found): void {
  for (const list of ['capacity', 'allocatable'] as const) {
    for (const [name, amount] of Object.entries(node.status?.[list] ?? {})) {
      checkResourceAmount(name, amount, `status.${list}.${name}`, found)
    }
  }
}

/** Checks what applies to the node and to its status. */
export function validateNodeUpdate(next: LooseObject<Node>, old: LooseObject<Node>): StatusCause[] {
  const found: Found = []
  checkAmounts(next, found)
  checkAddresses(next, found)
  const { spec = {} } = next
  const before = old.spec ?? {}
  for (const _ of changedCidrs(before.podCIDRs ?? [], spec.podCIDRs ?? [])) {
    const detail = 'node updates may not change podCIDR except from "" to valid'
    found.push(fieldForbidden('spec.podCIDRs', detail))
  }
  if (before.providerID && spec.providerID !== before.providerID) {
    const detail = 'node updates may not change providerID except from "" to valid'
    found.push(fieldForbidden('spec.providerID', detail))
  }
  checkTaints(spec.taints ?? [], 'metadata.taints', found)
  if ((spec.externalID ?? '') !== (before.externalID ?? '')) {
    found.push(fieldForbidden('spec.externalID', 'may not be updated'))
  }
  return found
}

/** Each changed range is reported, but a different number of them counts as one change. */
function changedCidrs(before: readonly string[], next: readonly string[]): readonly string[] {
  if (before.length === 0) return []
  if (before.length !== next.length) return before.slice(0, 1)
  return before.filter((cidr, at) => cidr !== next[at])
}

function checkAddresses(node: LooseObject<Node>, found: Found): void {
  const seen = new Set<string>()
  for (const [at, { type = '', address = '' }] of (node.status?.addresses ?? []).entries()) {
    const key = `${type} ${address}`
    if (seen.has(key)) {
      const shown = { Type: type, Address: address }
      found.push(fieldDuplicate(`status.addresses[${at}]`, shown))
    }
    seen.add(key)
  }
}
