import type { Service, ServiceSpec } from '@skerry/api'
import type { Loose, LooseObject } from '../typed-strategy.ts'
import { isReachedFromOutside } from './service-defaults.ts'

/**
 * Drops fields that the server may have filled in for the old type when the type changes, so that
 * the client need not. A field that the client changed as well stays, and validation refuses it.
 */
export function dropFieldsOfOldType(next: LooseObject<Service>, old: LooseObject<Service>): void {
  const spec = next.spec ?? {}
  const before = old.spec ?? {}
  if (hasClusterIp(before) && !hasClusterIp(spec)) dropClusterIp(spec, before)
  if (hasNodePorts(before) && !hasNodePorts(spec) && haveSameNodePorts(spec, before)) {
    for (const port of spec.ports ?? []) delete port.nodePort
  }
  for (const { field, isAllowed } of fieldsOfType) {
    if (isAllowed(before) && !isAllowed(spec) && spec[field] === before[field]) delete spec[field]
  }
  if (spec.type !== 'LoadBalancer' && next.status)
    next.status = { ...next.status, loadBalancer: {} }
}

interface FieldOfType {
  field:
    | 'healthCheckNodePort'
    | 'allocateLoadBalancerNodePorts'
    | 'loadBalancerClass'
    | 'externalTrafficPolicy'
  isAllowed: (spec: Loose<ServiceSpec>) => boolean
}

const fieldsOfType: readonly FieldOfType[] = [
  { field: 'healthCheckNodePort', isAllowed: hasHealthCheckNodePort },
  { field: 'allocateLoadBalancerNodePorts', isAllowed: isLoadBalancer },
  { field: 'loadBalancerClass', isAllowed: isLoadBalancer },
  { field: 'externalTrafficPolicy', isAllowed: isReachedFromOutside },
]

function hasClusterIp(spec: Loose<ServiceSpec>): boolean {
  return spec.type !== 'ExternalName'
}

function hasNodePorts(spec: Loose<ServiceSpec>): boolean {
  return spec.type === 'NodePort' || spec.type === 'LoadBalancer'
}

function isLoadBalancer(spec: Loose<ServiceSpec>): boolean {
  return spec.type === 'LoadBalancer'
}

export function hasHealthCheckNodePort(spec: Loose<ServiceSpec>): boolean {
  return isLoadBalancer(spec) && spec.externalTrafficPolicy === 'Local'
}

function dropClusterIp(spec: Loose<ServiceSpec>, before: Loose<ServiceSpec>): void {
  if (spec.clusterIP === before.clusterIP && isSameList(spec.clusterIPs, before.clusterIPs)) {
    delete spec.clusterIP
    delete spec.clusterIPs
  }
  if (isSameList(spec.ipFamilies, before.ipFamilies)) delete spec.ipFamilies
  if (spec.ipFamilyPolicy === before.ipFamilyPolicy) delete spec.ipFamilyPolicy
}

function isSameList(first: readonly string[] = [], second: readonly string[] = []): boolean {
  return first.length === second.length && first.every((item, at) => item === second[at])
}

function haveSameNodePorts(spec: Loose<ServiceSpec>, before: Loose<ServiceSpec>): boolean {
  const ports = nodePortsOf(spec)
  const portsBefore = nodePortsOf(before)
  return ports.size === portsBefore.size && [...ports].every((port) => portsBefore.has(port))
}

function nodePortsOf(spec: Loose<ServiceSpec>): Set<number> {
  return new Set((spec.ports ?? []).flatMap((port) => (port.nodePort ? [port.nodePort] : [])))
}
