import {
  fieldRequired,
  type EndpointAddress,
  type EndpointSubset,
  type Endpoints,
  type StatusCause,
} from '@skerry/api'
import {
  checkLabelField,
  checkPortNumber,
  checkQualifiedField,
  checkRequiredOneOf,
  checkSubdomainField,
  isSame,
  type Found,
} from '../checks.ts'
import { checkEndpointIp, checkIp } from '../ip-text.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'
import { protocols } from './pod-spec-validation/container.ts'

export function validateEndpoints(endpoints: LooseObject<Endpoints>): StatusCause[] {
  const found: Found = []
  for (const [at, subset] of (endpoints.subsets ?? []).entries()) {
    checkSubset(subset, `subsets[${at}]`, found)
  }
  return found
}

export function validateEndpointsUpdate(
  next: LooseObject<Endpoints>,
  old: LooseObject<Endpoints>,
): StatusCause[] {
  return isSame(next.subsets, old.subsets) ? [] : validateEndpoints(next)
}

function checkSubset(subset: Loose<EndpointSubset>, path: string, found: Found): void {
  const { addresses = [], notReadyAddresses = [], ports = [] } = subset
  if (addresses.length + notReadyAddresses.length === 0) {
    found.push(fieldRequired(path, 'must specify `addresses` or `notReadyAddresses`'))
  }
  for (const [at, address] of addresses.entries()) {
    checkAddress(address, `${path}.addresses[${at}]`, found)
  }
  for (const [at, address] of notReadyAddresses.entries()) {
    checkAddress(address, `${path}.notReadyAddresses[${at}]`, found)
  }
  for (const [at, port] of ports.entries()) {
    const field = `${path}.ports[${at}]`
    if (port.name) checkLabelField(port.name, `${field}.name`, found)
    else if (ports.length > 1) found.push(fieldRequired(`${field}.name`))
    checkPortNumber(port.port, `${field}.port`, found)
    checkRequiredOneOf(port.protocol, protocols, `${field}.protocol`, found)
    if (port.appProtocol !== undefined) {
      checkQualifiedField(port.appProtocol, `${field}.appProtocol`, found)
    }
  }
}

function checkAddress(address: Loose<EndpointAddress>, path: string, found: Found): void {
  const { ip = '', hostname, nodeName } = address
  checkIp(ip, `${path}.ip`, found)
  if (hostname) checkLabelField(hostname, `${path}.hostname`, found)
  if (nodeName !== undefined) checkSubdomainField(nodeName, `${path}.nodeName`, found)
  checkEndpointIp(ip, `${path}.ip`, found)
}
