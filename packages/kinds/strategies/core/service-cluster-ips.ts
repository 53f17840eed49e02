import type { Service, ServiceSpec } from '@skerry/api'
import type { Loose, LooseObject } from '../typed-strategy.ts'

type Spec = Loose<ServiceSpec>

/** clusterIP is the older, singular form of clusterIPs; both always agree. */
export function alignClusterIps(spec: Spec, old?: Spec): void {
  const { clusterIP, clusterIPs = [] } = spec
  if (!old) {
    if (clusterIP && clusterIPs.length === 0) spec.clusterIPs = [clusterIP]
    return
  }
  const isSingularChanged = (clusterIP ?? '') !== (old.clusterIP ?? '')
  const before = old.clusterIPs ?? []
  if (!isSingularChanged) {
    if (clusterIPs.length === 0 && before.length > 0) spec.clusterIPs = [...before]
    return
  }
  // If the plural was changed, too, validation compares them.
  if (clusterIPs.length !== before.length || clusterIPs.some((ip, at) => ip !== before[at])) return
  if (clusterIP) spec.clusterIPs = [clusterIP]
  else delete spec.clusterIPs
}

/** A client that replaces a service need not repeat what the server allocated for it. */
export function keepAllocated(next: LooseObject<Service>, old: LooseObject<Service>): void {
  const { spec = {} } = next
  const before = old.spec ?? {}
  if (spec.type !== 'ExternalName' && before.type !== 'ExternalName') {
    if (!spec.clusterIP && before.clusterIP) spec.clusterIP = before.clusterIP
    if (before.clusterIPs && (spec.clusterIPs ?? []).length === 0) {
      spec.clusterIPs = [...before.clusterIPs]
    }
  }
  if (hasNodePorts(spec) && hasNodePorts(before)) keepNodePorts(spec, before)
  if (needsHealthCheckPort(spec) && needsHealthCheckPort(before)) {
    spec.healthCheckNodePort ||= before.healthCheckNodePort
  }
}

function hasNodePorts(spec: Spec): boolean {
  return spec.type === 'NodePort' || spec.type === 'LoadBalancer'
}

function needsHealthCheckPort(spec: Spec): boolean {
  return spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local'
}

/**
 * Keeps node ports by the names of the ports. A number that the client gives to another port
 * belongs to that one.
 */
function keepNodePorts(spec: Spec, old: Spec): void {
  const asked = nodePortsOf(spec)
  const given = nodePortsOf(old)
  const byName = new Map((old.ports ?? []).map(({ name = '', nodePort }) => [name, nodePort]))
  for (const port of spec.ports ?? []) {
    const before = byName.get(port.name ?? '')
    if (port.nodePort || !before || (asked.has(before) && given.has(before))) continue
    port.nodePort = before
  }
}

function nodePortsOf({ ports = [] }: Spec): ReadonlySet<number> {
  return new Set(ports.flatMap(({ nodePort }) => nodePort || []))
}
