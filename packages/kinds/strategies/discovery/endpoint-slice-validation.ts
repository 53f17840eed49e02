import {
  checkDnsSubdomain,
  checkLabelValue,
  fieldDuplicate,
  fieldInvalid,
  fieldRequired,
  fieldTooMany,
  type DiscoveryV1EndpointPort,
  type Endpoint,
  type EndpointHints,
  type EndpointSlice,
  type StatusCause,
} from '@skerry/api'
import {
  addInvalid,
  checkLabelField,
  checkQualifiedField,
  checkRequiredOneOf,
  checkSubdomainField,
  checkUnchanged,
  isSame,
  type Found,
} from '../checks.ts'
import { protocols } from '../core/pod-spec-validation/container.ts'
import { checkEndpointIp, checkCanonicalIp, checkIp, isIpv6 } from '../ip-text.ts'
import { checkLabels } from '../label-checks.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'
import { kindsBounds } from '../../limits-table.ts'

const limits = kindsBounds.endpointSliceValidation

type Slice = LooseObject<EndpointSlice>

export function validateEndpointSlice(slice: Slice): StatusCause[] {
  const found: Found = []
  checkHead(slice, found)
  checkEndpoints(slice, found)
  return found
}

export function validateEndpointSliceUpdate(next: Slice, old: Slice): StatusCause[] {
  const found: Found = []
  checkHead(next, found)
  if (!isSame(next.endpoints, old.endpoints)) checkEndpoints(next, found)
  checkUnchanged(next.addressType, old.addressType, 'addressType', found)
  return found
}

function checkHead(slice: Slice, found: Found): void {
  checkRequiredOneOf(slice.addressType, ['FQDN', 'IPv4', 'IPv6'], 'addressType', found)
  const ports = slice.ports ?? []
  if (ports.length > limits.ports) {
    found.push(fieldTooMany('ports', ports.length, limits.ports))
    return
  }
  const names = new Set<string>()
  for (const [at, port] of ports.entries()) checkPort(port, names, `ports[${at}]`, found)
}

function checkPort(
  port: Loose<DiscoveryV1EndpointPort>,
  names: Set<string>,
  path: string,
  found: Found,
): void {
  const { name = '' } = port
  if (name) checkLabelField(name, `${path}.name`, found)
  if (names.has(name)) found.push(fieldDuplicate(`${path}.name`, name))
  names.add(name)
  checkRequiredOneOf(port.protocol, protocols, `${path}.protocol`, found)
  if (port.appProtocol !== undefined) {
    checkQualifiedField(port.appProtocol, `${path}.appProtocol`, found)
  }
}

function checkEndpoints(slice: Slice, found: Found): void {
  const endpoints = slice.endpoints ?? []
  if (endpoints.length > limits.endpoints) {
    found.push(fieldTooMany('endpoints', endpoints.length, limits.endpoints))
    return
  }
  for (const [at, endpoint] of endpoints.entries()) {
    checkEndpoint(endpoint, slice.addressType ?? '', `endpoints[${at}]`, found)
  }
}

function checkEndpoint(
  endpoint: Loose<Endpoint>,
  addressType: string,
  path: string,
  found: Found,
): void {
  const { nodeName, hostname, hints, deprecatedTopology: topology = {} } = endpoint
  const addresses = endpoint.addresses ?? []
  const field = `${path}.addresses`
  if (addresses.length === 0) {
    found.push(fieldRequired(field, 'must contain at least 1 address'))
  } else if (addresses.length > limits.addresses) {
    found.push(fieldTooMany(field, addresses.length, limits.addresses))
  }
  for (const [at, address] of addresses.entries()) {
    checkAddress(address, addressType, { field, at }, found)
  }
  if (nodeName !== undefined) checkSubdomainField(nodeName, `${path}.nodeName`, found)
  const labels = Object.keys(topology).length
  if (labels > limits.topologyLabels) {
    found.push(fieldTooMany(`${path}.deprecatedTopology`, labels, limits.topologyLabels))
  }
  checkLabels(topology, `${path}.deprecatedTopology`, found)
  if (hostname !== undefined) checkLabelField(hostname, `${path}.hostname`, found)
  if (hints) checkHints(hints, `${path}.hints`, found)
}

function checkAddress(
  address: string,
  addressType: string,
  place: { field: string; at: number },
  found: Found,
): void {
  const path = `${place.field}[${place.at}]`
  if (addressType === 'FQDN') {
    checkFqdn(address, path, found)
  } else if (addressType === 'IPv4' || addressType === 'IPv6') {
    const check = addressType === 'IPv6' ? checkCanonicalIp : checkIp
    if (!check(address, path, found)) return
    if (isIpv6(address) !== (addressType === 'IPv6')) {
      found.push(fieldInvalid(place.field, address, `must be an ${addressType} address`))
    }
    checkEndpointIp(address, path, found)
  }
}

function checkFqdn(name: string, field: string, found: Found): void {
  if (!name) {
    found.push(fieldRequired(field))
    return
  }
  const plain = name.replace(/\.$/, '')
  if (!plain.includes('.') && checkDnsSubdomain(plain).length === 0) {
    const detail = 'should be a domain with at least two segments separated by dots'
    found.push(fieldInvalid(field, name, detail))
    return
  }
  addInvalid(found, field, plain, checkDnsSubdomain(plain))
}

function checkHints(hints: Loose<EndpointHints>, path: string, found: Found): void {
  for (const list of ['forZones', 'forNodes'] as const) {
    const items = hints[list] ?? []
    if (items.length > limits.hints) {
      found.push(fieldTooMany(`${path}.${list}`, items.length, limits.hints))
      return
    }
    const names = new Set<string>()
    for (const [at, { name = '' }] of items.entries()) {
      const field = `${path}.${list}[${at}].name`
      if (names.has(name)) found.push(fieldDuplicate(field, name))
      names.add(name)
      if (list === 'forZones') addInvalid(found, field, name, checkLabelValue(name))
      else checkSubdomainField(name, field, found)
    }
  }
}
