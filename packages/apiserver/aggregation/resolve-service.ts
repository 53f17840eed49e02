import { StatusError, type EndpointSlice, type Service } from '@skerry/api'
import type { Random } from '@skerry/base'
import type { Objects } from '../contract/objects.ts'
import { notFound } from '../contract/status-answers.ts'
import { getTyped, listTyped } from '../contract/typed-objects.ts'
import { wellKnown } from '../contract/well-known-resources.ts'

/** A service's port in objects that name a server to call (APIService, webhooks). */
export interface ServicePortReference {
  readonly namespace: string
  readonly name: string
  readonly port: number
}

export interface ServiceEndpoint {
  readonly host: string
  readonly port: number
}

/** Throws NotFound, ServiceUnavailable. One of the ready endpoints, at random. */
export function resolveService(
  objects: Objects,
  reference: ServicePortReference,
  random: Random,
): ServiceEndpoint {
  const { namespace, name, port } = reference
  const service = getTyped<Service>(objects, wellKnown.services, { namespace, name })
  if (!service) throw notFound(wellKnown.services, name)
  const { type, externalName = '', ports = [] } = service.spec ?? {}
  if (type === 'ExternalName') return { host: externalName, port }
  const servicePort = ports.find((candidate) => candidate.port === port)
  if (!servicePort) {
    throw unavailable(`no service port ${port} found for service ${JSON.stringify(name)}`)
  }
  const candidates = slicesOf(objects, namespace, name).flatMap((slice) =>
    readyEndpoints(slice, servicePort.name ?? ''),
  )
  const chosen = candidates[Math.floor(random.next() * candidates.length)]
  if (!chosen) throw unavailable(`no endpoints available for service ${JSON.stringify(name)}`)
  return chosen
}

export function slicesOf(objects: Objects, namespace: string, name: string): EndpointSlice[] {
  return listTyped<EndpointSlice>(objects, wellKnown.endpointSlices, namespace).filter(
    ({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === name,
  )
}

/** Returns endpoints that are ready, or do not say, on the port of that name. */
function readyEndpoints(slice: EndpointSlice, portName: string): ServiceEndpoint[] {
  const port = (slice.ports ?? []).find((each) => (each.name ?? '') === portName)?.port
  if (port === undefined) return []
  return (slice.endpoints ?? [])
    .filter(({ conditions }) => conditions?.ready !== false)
    .flatMap(({ addresses }) => (addresses ?? []).slice(0, 1).map((host) => ({ host, port })))
}

function unavailable(message: string): StatusError {
  return new StatusError('ServiceUnavailable', message)
}
