import type { Service, ServicePort, ServiceSpec } from '@skerry/api'
import type { Loose, LooseObject } from '../typed-strategy.ts'

const affinitySecondsDefault = 10_800

/** Addresses and node ports are not defaults: the server allocates them. */
export function applyServiceDefaults(service: LooseObject<Service>): void {
  const spec = (service.spec ??= {})
  const status = (service.status ??= {})
  status.loadBalancer ??= {}
  applyAffinityDefaults(spec)
  spec.type ||= 'ClusterIP'
  for (const port of spec.ports ?? []) applyPortDefaults(port)
  if (isReachedFromOutside(spec)) spec.externalTrafficPolicy ||= 'Cluster'
  if (spec.type !== 'ExternalName') spec.internalTrafficPolicy ??= 'Cluster'
  if (spec.type !== 'LoadBalancer') return
  spec.allocateLoadBalancerNodePorts ??= true
  for (const ingress of status.loadBalancer.ingress ?? []) {
    if (ingress.ip) ingress.ipMode ??= 'VIP'
  }
}

export function isReachedFromOutside(spec: Loose<ServiceSpec>): boolean {
  if (spec.type === 'LoadBalancer' || spec.type === 'NodePort') return true
  return spec.type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0
}

function applyAffinityDefaults(spec: Loose<ServiceSpec>): void {
  spec.sessionAffinity ||= 'None'
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig
  if (spec.sessionAffinity !== 'ClientIP') return
  const timeoutSeconds = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds
  if (timeoutSeconds !== undefined) return
  spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: affinitySecondsDefault } }
}

function applyPortDefaults(port: Loose<ServicePort>): void {
  port.protocol ||= 'TCP'
  if (!port.targetPort && port.port !== undefined) port.targetPort = port.port
}
