import {
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type Service,
  type ServicePort,
  type ServiceSpec,
  type StatusCause,
} from '@skerry/api'
import {
  checkLabelField,
  checkOneOf,
  checkPort,
  checkPortNumber,
  checkQualifiedField,
  checkRequiredOneOf,
  checkSubdomainField,
  type Found,
} from '../checks.ts'
import { checkCidr, checkEndpointIp, checkIp, ipOf } from '../ip-text.ts'
import { checkLabels } from '../label-checks.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'
import { protocols } from './pod-spec-validation/container.ts'
import { checkClusterIps, checkClusterIpUpdate, isHeadless } from './service-ip-validation.ts'
import { isReachedFromOutside } from './service-defaults.ts'
import { hasHealthCheckNodePort } from './service-type-change.ts'
import { kindsBounds } from '../../limits-table.ts'

export function validateService(service: LooseObject<Service>): StatusCause[] {
  const { spec = {} } = service
  // Nothing is allocated for these, and no other error is reported.
  const unusable: Found = []
  checkClusterIps(spec, unusable)
  if (unusable.length > 0) return unusable
  const found: Found = []
  checkType(spec, found)
  const names = new Set<string>()
  for (const [at, port] of (spec.ports ?? []).entries()) {
    checkServicePort(
      port,
      { names, isNamed: (spec.ports ?? []).length > 1 },
      `spec.ports[${at}]`,
      found,
    )
  }
  checkLabels(spec.selector, 'spec.selector', found)
  checkAffinity(spec, found)
  for (const [at, ip] of (spec.externalIPs ?? []).entries()) {
    if (checkIp(ip, `spec.externalIPs[${at}]`, found)) {
      checkEndpointIp(ip, `spec.externalIPs[${at}]`, found)
    }
  }
  const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']
  checkRequiredOneOf(spec.type, types, 'spec.type', found)
  checkPortsTogether(spec, found)
  checkLoadBalancer(spec, found)
  checkTraffic(spec, found)
  return found
}

function checkType(spec: Loose<ServiceSpec>, found: Found): void {
  const { type = '', ports = [], clusterIPs = [] } = spec
  if (ports.length === 0 && !isHeadless(spec) && type !== 'ExternalName') {
    found.push(fieldRequired('spec.ports'))
  }
  if ((type === 'LoadBalancer' || type === 'NodePort') && isHeadless(spec)) {
    const detail = `may not be set to 'None' for ${type} services`
    found.push(fieldInvalid('spec.clusterIPs[0]', clusterIPs[0], detail))
  }
  if (type !== 'ExternalName') return
  const detail = 'may not be set for ExternalName services'
  if (clusterIPs.length > 0) found.push(fieldForbidden('spec.clusterIPs', detail))
  if ((spec.ipFamilies ?? []).length > 0) found.push(fieldForbidden('spec.ipFamilies', detail))
  if (spec.ipFamilyPolicy !== undefined) found.push(fieldForbidden('spec.ipFamilyPolicy', detail))
  const name = (spec.externalName ?? '').replace(/\.$/, '')
  if (name) checkSubdomainField(name, 'spec.externalName', found)
  else found.push(fieldRequired('spec.externalName'))
}

function checkServicePort(
  port: Loose<ServicePort>,
  list: { names: Set<string>; isNamed: boolean },
  path: string,
  found: Found,
): void {
  const { name = '' } = port
  if (name) {
    checkLabelField(name, `${path}.name`, found)
    if (list.names.has(name)) found.push(fieldDuplicate(`${path}.name`, name))
    list.names.add(name)
  } else if (list.isNamed) {
    found.push(fieldRequired(`${path}.name`))
  }
  checkPortNumber(port.port, `${path}.port`, found)
  checkRequiredOneOf(port.protocol, protocols, `${path}.protocol`, found)
  checkPort(port.targetPort, `${path}.targetPort`, found)
  if (port.appProtocol !== undefined) {
    checkQualifiedField(port.appProtocol, `${path}.appProtocol`, found)
  }
}

const { affinitySecondsMax } = kindsBounds.serviceValidation

function checkAffinity(spec: Loose<ServiceSpec>, found: Found): void {
  const { sessionAffinity, sessionAffinityConfig } = spec
  checkRequiredOneOf(sessionAffinity, ['ClientIP', 'None'], 'spec.sessionAffinity', found)
  const field = 'spec.sessionAffinityConfig'
  if (sessionAffinity === 'None' && sessionAffinityConfig) {
    found.push(fieldForbidden(field, 'must not be set when session affinity is None'))
  }
  if (sessionAffinity !== 'ClientIP') return
  const seconds = sessionAffinityConfig?.clientIP?.timeoutSeconds
  const path = `${field}.clientIP.timeoutSeconds`
  if (seconds === undefined) {
    found.push(fieldRequired(path, 'when session affinity type is ClientIP'))
  } else if (seconds <= 0 || seconds > affinitySecondsMax) {
    const detail = `must be greater than 0 and less than ${affinitySecondsMax}`
    found.push(fieldInvalid(path, seconds, detail))
  }
}

function checkPortsTogether(spec: Loose<ServiceSpec>, found: Found): void {
  const ports = [...(spec.ports ?? []).entries()]
  for (const [at, { nodePort }] of ports) {
    if (spec.type !== 'ClusterIP' || !nodePort) continue
    const detail = "may not be used when `type` is 'ClusterIP'"
    found.push(fieldForbidden(`spec.ports[${at}].nodePort`, detail))
  }
  const nodePorts = new Set<string>()
  for (const [at, { protocol = '', nodePort }] of ports) {
    if (!nodePort) continue
    const key = `${protocol} ${nodePort}`
    if (nodePorts.has(key)) found.push(fieldDuplicate(`spec.ports[${at}].nodePort`, nodePort))
    nodePorts.add(key)
  }
  const servicePorts = new Set<string>()
  for (const [at, { protocol = '', port = 0 }] of ports) {
    const key = `${protocol} ${port}`
    if (servicePorts.has(key)) {
      found.push(fieldDuplicate(`spec.ports[${at}]`, emptyPort(protocol, port)))
    }
    servicePorts.add(key)
  }
}

/** Upstream prints its internal type, in which all fields except these two are empty. */
function emptyPort(protocol: string, port: number): object {
  return {
    Name: '',
    Protocol: protocol,
    AppProtocol: null,
    Port: port,
    TargetPort: 0,
    NodePort: 0,
  }
}

function checkLoadBalancer(spec: Loose<ServiceSpec>, found: Found): void {
  const isLoadBalancer = spec.type === 'LoadBalancer'
  const detail = "may only be used when `type` is 'LoadBalancer'"
  const ranges = spec.loadBalancerSourceRanges ?? []
  if (ranges.length > 0 && !isLoadBalancer) {
    found.push(fieldForbidden('spec.LoadBalancerSourceRanges', detail))
  }
  for (const [at, range] of ranges.entries()) {
    checkCidr(range.trim(), `spec.LoadBalancerSourceRanges[${at}]`, found)
  }
  if (spec.allocateLoadBalancerNodePorts !== undefined && !isLoadBalancer) {
    found.push(fieldForbidden('spec.allocateLoadBalancerNodePorts', detail))
  }
  if (spec.loadBalancerClass === undefined) return
  if (isLoadBalancer) checkQualifiedField(spec.loadBalancerClass, 'spec.loadBalancerClass', found)
  else found.push(fieldForbidden('spec.loadBalancerClass', detail))
}

function checkTraffic(spec: Loose<ServiceSpec>, found: Found): void {
  const policies = ['Cluster', 'Local']
  const field = 'spec.externalTrafficPolicy'
  if (isReachedFromOutside(spec)) {
    checkRequiredOneOf(spec.externalTrafficPolicy, policies, field, found)
  } else if (spec.externalTrafficPolicy) {
    const detail = 'may only be set for externally-accessible services'
    found.push(fieldInvalid(field, spec.externalTrafficPolicy, detail))
  }
  if (spec.healthCheckNodePort && !hasHealthCheckNodePort(spec)) {
    const detail =
      "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
    found.push(fieldInvalid('spec.healthCheckNodePort', spec.healthCheckNodePort, detail))
  }
  checkOneOf(spec.internalTrafficPolicy, policies, 'spec.internalTrafficPolicy', found)
  const distributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode']
  checkOneOf(spec.trafficDistribution, distributions, 'spec.trafficDistribution', found)
}

export function validateServiceUpdate(
  next: LooseObject<Service>,
  old: LooseObject<Service>,
): StatusCause[] {
  const found: Found = []
  const { spec = {} } = next
  const before = old.spec ?? {}
  const unusable: Found = []
  checkClusterIps(spec, unusable)
  if (unusable.length > 0) return unusable
  checkClusterIpUpdate(spec, before, found)
  const isSameClass = spec.loadBalancerClass === before.loadBalancerClass
  if (spec.type === 'LoadBalancer' && before.type === 'LoadBalancer' && !isSameClass) {
    const value = spec.loadBalancerClass ?? null
    found.push(fieldInvalid('spec.loadBalancerClass', value, 'may not change once set'))
  }
  const keepsPort = hasHealthCheckNodePort(spec) && hasHealthCheckNodePort(before)
  if (keepsPort && spec.healthCheckNodePort !== before.healthCheckNodePort) {
    found.push(fieldForbidden('spec.healthCheckNodePort', 'field is immutable'))
  }
  found.push(...validateService(next))
  return found
}

export function validateServiceStatus(next: LooseObject<Service>): StatusCause[] {
  const found: Found = []
  const ingresses = next.status?.loadBalancer?.ingress ?? []
  const field = 'status.loadBalancer.ingress'
  if (next.spec?.type !== 'LoadBalancer' && ingresses.length > 0) {
    found.push(fieldForbidden(field, "may only be used when `spec.type` is 'LoadBalancer'"))
    return found
  }
  for (const [at, { ip = '', ipMode, hostname = '' }] of ingresses.entries()) {
    const path = `${field}[${at}]`
    if (ip) checkIp(ip, `${path}.ip`, found)
    if (ipMode === undefined) {
      if (ip) found.push(fieldRequired(`${path}.ipMode`, 'must be specified when `ip` is set'))
    } else if (!ip) {
      found.push(fieldForbidden(`${path}.ipMode`, 'may not be specified when `ip` is not set'))
    } else if (ipMode !== 'VIP' && ipMode !== 'Proxy') {
      found.push(fieldNotSupported(`${path}.ipMode`, ipMode, ['Proxy', 'VIP']))
    }
    checkIngressHostname(hostname, `${path}.hostname`, found)
  }
  return found
}

/** Checks the hostname in the status of a Service or an Ingress. */
export function checkIngressHostname(hostname: string, field: string, found: Found): void {
  if (!hostname) return
  checkSubdomainField(hostname, field, found)
  if (ipOf(hostname)) {
    found.push(fieldInvalid(field, hostname, 'must be a DNS name, not an IP address'))
  }
}
