import { StatusError, type Endpoints, type Pod, type Service } from '@skerry/api'
import { addressKind, type Random } from '@skerry/base'
import type { Objects } from '../../contract/objects.ts'
import { notFound } from '../../contract/status-answers.ts'
import { getTyped } from '../../contract/typed-objects.ts'
import { wellKnown } from '../../contract/well-known-resources.ts'
import type { AddressTarget } from './backend-dial.ts'
import { otherNamespaceAt } from './claimed-address.ts'
import { findPod } from './pod-container.ts'

/** The target in a proxy path: `name`, `name:port` or `scheme:name:port`. */
export interface ProxyName {
  readonly scheme: '' | 'http' | 'https'
  readonly name: string
  /** A number, the name of a service port, or an empty text. */
  readonly port: string
}

/** Returns undefined if the text has none of the three forms. */
export function parseProxyName(text: string): ProxyName | undefined {
  const parts = text.split(':')
  if (parts.length === 3) {
    const [scheme = '', name = '', port = ''] = parts
    if ((scheme !== '' && scheme !== 'http' && scheme !== 'https') || name === '') return undefined
    return { scheme, name, port }
  }
  const [name = '', port] = parts
  if (parts.length > 2 || name === '' || port === '') return undefined
  return { scheme: '', name, port: port ?? '' }
}

/**
 * Accepts only decimal digits, whose leading zeros mean nothing: two readers of one text must not
 * read two ports. Throws BadRequest.
 */
export function portNumber(text: string): number {
  const port = /^\d+$/.test(text) ? Number(text) : 0
  if (port >= 1 && port <= 65_535) return port
  throw new StatusError('BadRequest', `invalid port ${JSON.stringify(text)}`)
}

/** Returns the pod's address and the requested port, else the first that it declares, else 80 or 443. */
export function podTarget(
  objects: Objects,
  namespace: string,
  { scheme, name, port }: ProxyName,
): AddressTarget {
  const pod = findPod(objects, { namespace, name })
  const host = pod.status?.podIP ?? ''
  refuseSpecialAddress(host)
  const isTls = scheme === 'https'
  const wanted = port === '' ? declaredPort(pod) : portNumber(port)
  return { host, port: wanted ?? (isTls ? 443 : 80), isTls }
}

function declaredPort(pod: Pod): number | undefined {
  return (pod.spec?.containers ?? []).flatMap((container) => container.ports ?? [])[0]
    ?.containerPort
}

/** Returns one of the service's ready pods, at random. */
export function serviceTarget(
  objects: Objects,
  namespace: string,
  proxyName: ProxyName,
  random: Random,
): AddressTarget {
  const { scheme, name } = proxyName
  const portName = servicePortName(objects, namespace, proxyName)
  const endpoints = getTyped<Endpoints>(objects, wellKnown.endpoints, { namespace, name })
  if (!endpoints) throw notFound(wellKnown.endpoints, name)
  const candidates = (endpoints.subsets ?? []).flatMap((subset) =>
    (subset.ports ?? [])
      .filter((port) => (port.name ?? '') === portName)
      .flatMap(({ port }) => (subset.addresses ?? []).map(({ ip }) => ({ host: ip, port }))),
  )
  const chosen = candidates[Math.floor(random.next() * candidates.length)]
  if (!chosen) {
    throw new StatusError(
      'ServiceUnavailable',
      `no endpoints available for service ${JSON.stringify(name)}`,
    )
  }
  refuseSpecialAddress(chosen.host)
  const other = otherNamespaceAt(objects, namespace, chosen)
  if (other !== undefined) {
    const text = `service ${JSON.stringify(name)} leads to ${other}, which services/proxy does not dial`
    throw new StatusError('BadRequest', `address not allowed: ${text}`)
  }
  return { ...chosen, isTls: scheme === 'https' }
}

/** A number is one of the service's own ports; endpoints carry only its name. */
function servicePortName(objects: Objects, namespace: string, { name, port }: ProxyName): string {
  if (!/^\d+$/.test(port)) return port
  const number = Number(port)
  const service = getTyped<Service>(objects, wellKnown.services, { namespace, name })
  if (!service) throw notFound(wellKnown.services, name)
  const found = (service.spec?.ports ?? []).find((candidate) => candidate.port === number)
  if (found) return found.name ?? ''
  throw new StatusError(
    'ServiceUnavailable',
    `no service port ${port} found for service ${JSON.stringify(name)}`,
  )
}

/**
 * Objects must not make this server connect to its own machine, to its link or to a cloud's
 * secrets. Clusters have pods in reserved ranges, which upstream allows, too.
 */
export function refuseSpecialAddress(address: string): void {
  const kind = addressKind(address)
  if (kind === 'ordinary' || kind === 'reserved') return
  throw new StatusError('BadRequest', 'address not allowed')
}
