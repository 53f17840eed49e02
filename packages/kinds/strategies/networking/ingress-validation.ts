import {
  checkDnsSubdomain,
  checkPathSegment,
  checkPortName,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type HTTPIngressPath,
  type Ingress,
  type IngressBackend,
  type IngressSpec,
  type StatusCause,
  type TypedLocalObjectReference,
} from '@skerry/api'
import { memberAsSent } from '@skerry/bodies'
import {
  addInvalid,
  checkLabelField,
  checkNotEmpty,
  checkPortNumber,
  checkSubdomainField,
  type Found,
} from '../checks.ts'
import { checkIngressHostname } from '../core/service-validation.ts'
import { checkIp, ipOf } from '../ip-text.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'

const classAnnotation = 'kubernetes.io/ingress.class'

export function validateIngress(ingress: LooseObject<Ingress>): StatusCause[] {
  const found = validateIngressUpdate(ingress)
  const annotation = ingress.metadata.annotations?.[classAnnotation]
  const name = ingress.spec?.ingressClassName
  if (annotation !== undefined && name !== undefined && annotation !== name) {
    const detail = 'must match `ingressClassName` when both are specified'
    found.push(fieldInvalid(`annotations.${classAnnotation}`, annotation, detail))
  }
  return found
}

export function validateIngressUpdate(ingress: LooseObject<Ingress>): StatusCause[] {
  const found: Found = []
  const { spec = {} } = ingress
  const { rules = [], defaultBackend, tls = [], ingressClassName } = spec
  if (rules.length === 0 && !defaultBackend) {
    const detail = 'either `defaultBackend` or `rules` must be specified'
    found.push(fieldInvalid('spec', memberAsSent(spec, 'rules'), detail))
  }
  if (defaultBackend) checkBackend(defaultBackend, 'spec.defaultBackend', found)
  for (const [at, rule] of rules.entries()) checkRule(rule, `spec.rules[${at}]`, found)
  for (const [at, { hosts = [], secretName = '' }] of tls.entries()) {
    for (const [index, host] of hosts.entries()) {
      checkHost(host, `spec.tls[${at}].hosts[${index}]`, found)
    }
    if (secretName) checkSubdomainField(secretName, `spec.tls[${at}].secretName`, found)
  }
  if (ingressClassName !== undefined) {
    checkSubdomainField(ingressClassName, 'spec.ingressClassName', found)
  }
  return found
}

const wildcardFormat = String.raw`\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*`
const wildcardPattern = new RegExp(`^${wildcardFormat}$`)

function checkHost(host: string, field: string, found: Found): void {
  if (!host.includes('*')) {
    checkSubdomainField(host, field, found)
  } else if (!wildcardPattern.test(host)) {
    const detail = `a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '${wildcardFormat}')`
    found.push(fieldInvalid(field, host, detail))
  }
}

type Rule = NonNullable<Loose<IngressSpec>['rules']>[number]

function checkRule(rule: Rule, path: string, found: Found): void {
  const { host = '', http } = rule
  if (host) {
    if (ipOf(host)) {
      found.push(fieldInvalid(`${path}.host`, host, 'must be a DNS name, not an IP address'))
    }
    checkHost(host, `${path}.host`, found)
  }
  if (!http) return
  const paths = http.paths ?? []
  if (paths.length === 0) found.push(fieldRequired(`${path}.http.paths`))
  for (const [at, item] of paths.entries()) checkPath(item, `${path}.http.paths[${at}]`, found)
}

const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix']
const invalidParts = ['//', '/./', '/../', '%2f', '%2F']
const invalidEnds = ['/..', '/.']

function checkPath(item: Loose<HTTPIngressPath>, base: string, found: Found): void {
  const { path = '', pathType } = item
  if (!pathType && pathType !== '') {
    found.push(fieldRequired(`${base}.pathType`, 'pathType must be specified'))
    return
  }
  const field = `${base}.path`
  if (!pathTypes.includes(pathType)) {
    found.push(fieldNotSupported(`${base}.pathType`, pathType, pathTypes))
  } else if (pathType === 'ImplementationSpecific') {
    if (path && !path.startsWith('/')) {
      found.push(fieldInvalid(field, path, 'must be an absolute path'))
    }
  } else {
    if (!path.startsWith('/')) found.push(fieldInvalid(field, path, 'must be an absolute path'))
    for (const part of invalidParts) {
      if (path.includes(part)) found.push(fieldInvalid(field, path, `must not contain '${part}'`))
    }
    for (const end of invalidEnds) {
      if (path.endsWith(end)) found.push(fieldInvalid(field, path, `cannot end with '${end}'`))
    }
  }
  checkBackend(item.backend ?? {}, `${base}.backend`, found)
}

function checkBackend(backend: Loose<IngressBackend>, path: string, found: Found): void {
  const { resource, service } = backend
  if (resource && service) {
    found.push(fieldInvalid(path, '', 'cannot set both resource and service backends'))
  } else if (resource) {
    checkLocalReference(resource, `${path}.resource`, found)
  } else if (service) {
    const { name = '', port = {} } = service
    if (checkNotEmpty(name, `${path}.service.name`, found)) {
      checkLabelField(name, `${path}.service.name`, found)
    }
    checkBackendPort(port, path, found)
  } else {
    found.push(fieldInvalid(path, '', 'resource or service backend is required'))
  }
}

function checkBackendPort(
  port: { name?: string; number?: number },
  path: string,
  found: Found,
): void {
  if (port.name && port.number) {
    found.push(fieldInvalid(path, '', 'cannot set both port name & port number'))
  } else if (port.name) {
    addInvalid(found, `${path}.service.port.name`, port.name, checkPortName(port.name))
  } else if (port.number) {
    checkPortNumber(port.number, `${path}.service.port.number`, found)
  } else {
    found.push(fieldRequired(path, 'port name or number is required'))
  }
}

/** Checks a reference of an Ingress, or the parameters of an IngressClass. */
export function checkLocalReference(
  reference: Loose<TypedLocalObjectReference>,
  path: string,
  found: Found,
): void {
  const { apiGroup } = reference
  if (apiGroup !== undefined && apiGroup !== null) {
    addInvalid(found, `${path}.apiGroup`, apiGroup, checkDnsSubdomain(apiGroup))
  }
  for (const name of ['kind', 'name'] as const) {
    const value = reference[name] ?? ''
    if (!checkNotEmpty(value, `${path}.${name}`, found)) continue
    addInvalid(found, `${path}.${name}`, value, checkPathSegment(value))
  }
}

export function validateIngressStatus(ingress: LooseObject<Ingress>): StatusCause[] {
  const found: Found = []
  const entries = ingress.status?.loadBalancer?.ingress ?? []
  for (const [at, { ip = '', hostname = '' }] of entries.entries()) {
    const path = `status.loadBalancer.ingress[${at}]`
    if (ip) checkIp(ip, `${path}.ip`, found)
    checkIngressHostname(hostname, `${path}.hostname`, found)
  }
  return found
}
