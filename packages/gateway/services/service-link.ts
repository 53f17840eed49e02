import type { Duplex } from 'node:stream'
import { StatusError, isJsonObject, type StatusReason } from '@skerry/api'
import {
  isSwitched,
  type TunnelHeaders,
  type TunnelRequest,
  type TunnelResponse,
} from '@skerry/tunnel'
import type { ClusterWay } from '../way/cluster-way.ts'
import { edgeServiceOf, serviceText, type EdgeService } from '@skerry/fleet-kinds'
import { gatewayBounds } from '../limits-table.ts'

/**
 * Defines how a hub asks an agent for a connection to a service: CONNECT, on a stream that becomes bytes. No
 * user's request has that method when it reaches the tunnel: this HTTP/1.1 server passes no CONNECT on, and
 * in HTTP/2 it has no path. Hub and service speak HTTP; the agent only joins two streams, so that trailers,
 * half-close and other features of the protocol pass unchanged.
 */
export const connectMethod = 'CONNECT'
export const serviceProtocol = 'tcp.skerry'
const tlsHeader = 'skerry-service-tls'
const tlsForUpgrade = 'http/1.1'
/** The agent's answer names in it the protocol that the service speaks, if known. */
const spokenHeader = 'skerry-service-protocol'
/** Marks a refusal by an agent that supports services. */
const refusalHeader = 'skerry-service-refusal'
const { refusalBytesMax } = gatewayBounds.serviceLink

export interface ServiceConnect {
  readonly service: EdgeService
  readonly isTls: boolean
  /** Over TLS the service must speak HTTP/1.1, even if it supports HTTP/2, which has no upgrades. */
  readonly isUpgrade?: boolean
  /** The virtual cluster of the service's namespace. If omitted, the edge cluster itself. */
  readonly virtual?: string
}

/** The protocol of a service: `h2` if TLS or the Service's appProtocol names it. */
export type SpokenProtocol = 'h2' | 'http/1.1' | 'unknown'

export function isConnect({ method }: Pick<TunnelRequest, 'method'>): boolean {
  return method === connectMethod
}

/**
 * Builds the request; `named` are the headers by which hub and agent name the user's request in logs and
 * traces.
 */
function connectRequest(
  { service, isTls, isUpgrade }: ServiceConnect,
  named: TunnelHeaders = {},
): TunnelRequest {
  const { namespace, name, port } = service
  return {
    method: connectMethod,
    path: `/services/${namespace}/${name}/${port}`,
    headers: {
      ...named,
      connection: 'Upgrade',
      upgrade: serviceProtocol,
      ...(isTls ? { [tlsHeader]: isUpgrade ? tlsForUpgrade : 'yes' } : {}),
    },
  }
}

/**
 * Addresses the request to a virtual cluster, through its parent's agent. An agent without virtual clusters
 * refuses the path.
 */
export function connectVirtual(request: TunnelRequest, virtual: string): TunnelRequest {
  return { ...request, path: `/clusters/${virtual}${request.path}` }
}

/** Returns undefined if the path names no service. */
export function parseConnect({ path, headers }: TunnelRequest): ServiceConnect | undefined {
  const [, virtual, place = path] = /^\/clusters\/([a-z0-9-]+)(\/.*)$/.exec(path) ?? []
  const [root, word, namespace = '', name = '', port = '', ...more] = place.split('/')
  if (root !== '' || word !== 'services' || more.length > 0) return undefined
  const service = edgeServiceOf({ namespace, name, port })
  const tls = headers[tlsHeader]
  const wanted = { isTls: tls !== undefined, isUpgrade: tls === tlsForUpgrade }
  return service && { service, ...wanted, ...(virtual === undefined ? {} : { virtual }) }
}

export function connectedHeaders(spoken: SpokenProtocol): Record<string, string> {
  return { connection: 'Upgrade', upgrade: serviceProtocol, [spokenHeader]: spoken }
}

export function connectRefusal(error: StatusError): TunnelResponse {
  const body = Buffer.from(JSON.stringify(error.toStatus()))
  return {
    status: error.code,
    headers: {
      'content-type': 'application/json',
      'content-length': String(body.length),
      [refusalHeader]: 'yes',
    },
    body: onePiece(body),
  }
}

async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

export interface ServiceStream {
  readonly stream: Duplex
  readonly spoken: SpokenProtocol
}

/** A connection to a service of a cluster. Throws the agent's refusal as a StatusError, and what the tunnel throws. */
export async function connectService(
  way: Pick<ClusterWay, 'upgrade'>,
  asked: ServiceConnect & { readonly cluster: string; readonly named: TunnelHeaders },
  signal: AbortSignal,
): Promise<ServiceStream> {
  const request = connectRequest(asked, asked.named)
  const answer = await way.upgrade(asked.cluster, request, signal)
  if (!isSwitched(answer)) {
    const where = `Cannot reach service ${serviceText(asked.service)} of cluster "${asked.cluster}"`
    throw await refusalOf(answer, { where, what: 'services' })
  }
  const spoken = answer.headers[spokenHeader]
  return {
    stream: answer.stream,
    spoken: spoken === 'h2' || spoken === 'http/1.1' ? spoken : 'unknown',
  }
}

/** The reasons that an agent may give. None of them looks like the hub's own. */
const sayable: readonly StatusReason[] = [
  'Forbidden',
  'NotFound',
  'ServiceUnavailable',
  'TooManyRequests',
]

/** Returns an agent's refusal: `where` is the beginning of its message, `what` the feature that the agent must know. */
export async function refusalOf(
  { headers, body }: TunnelResponse,
  { where, what }: { readonly where: string; readonly what: string },
): Promise<StatusError> {
  const text = await readText(body)
  if (headers[refusalHeader] === undefined) {
    const why = `its agent is of a version that knows no ${what}; update it`
    return new StatusError('ServiceUnavailable', `${where}: ${why}`)
  }
  const { reason, message } = parsed(text)
  const known = sayable.find((each) => each === reason) ?? 'ServiceUnavailable'
  return new StatusError(known, `${where}: ${message}`)
}

function parsed(text: string): { reason: string; message: string } {
  const unclear = { reason: '', message: 'the agent gave no reason' }
  try {
    const value: unknown = JSON.parse(text)
    if (!isJsonObject(value)) return unclear
    const { reason, message } = value
    return typeof message === 'string' ? { reason: String(reason), message } : unclear
  } catch {
    // The answer is cut short, or not ours.
    return unclear
  }
}

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body) {
    pieces.push(piece)
    bytes += piece.length
    if (bytes > refusalBytesMax) break
  }
  return Buffer.concat(pieces).toString('utf8')
}
