import { StatusError } from '@skerry/api'
import { accessEnded, type AuthorizedRequest, type ApiAnswer, type Route } from '@skerry/apiserver'
import { PeerAnswerError, messageOf } from '@skerry/base'
import { joinStreams, type TunnelUpgraded } from '@skerry/tunnel'
import { serviceText } from '@skerry/fleet-kinds'
import type { Transfer } from '../proxy/cluster-audit.ts'
import { clustersPrefix } from '../proxy/cluster-path.ts'
import {
  answerBody,
  counted,
  endOf,
  hasBody,
  unknownCluster,
  type ClusterProxyDeps,
} from '../proxy/cluster-proxy.ts'
import { checkEncoding } from '../proxy/forwarded-headers.ts'
import { passUpgrade } from '../proxy/pass-upgrade.ts'
import { tunnelRefusal } from '../proxy/tunnel-refusal.ts'
import { limitUserStreams, UserStreams } from '../proxy/user-streams.ts'
import { framedStream } from './framed-stream.ts'
import {
  exchangeHttp1,
  exchangeHttp2,
  upgradeHttp1,
  type ServiceAnswer,
  type ServiceRequest,
} from './service-exchange.ts'
import {
  serviceAnswerHeaders,
  serviceRequestHeaders,
  serviceTrailers,
  type ServicePlace,
} from './service-headers.ts'
import { connectService, serviceProtocol, type ServiceStream } from './service-link.ts'
import {
  isServicePath,
  parseServiceTarget,
  serviceAttributes,
  type ServiceTarget,
} from './service-path.ts'
import { servicesLimits } from '../limits-table.ts'

export interface ServiceRoutesDeps extends Pick<
  ClusterProxyDeps,
  'way' | 'audit' | 'clock' | 'isKnown' | 'awaySinceMs'
> {
  /** The domain under which each cluster has its own host name. If omitted, clusters have paths only. */
  readonly clusterDomain?: string | undefined
}

/**
 * Serves `/clusters/<cluster>/services/<namespace>/<name>:<port>/…`: services of an edge that its operator
 * allows, for users whom the hub's RBAC allows clusters/services. Comes before the route to the cluster's
 * API, which has no such path. An upgrade to `tcp.skerry` of the service itself is a plain connection to it,
 * as framed-stream.ts defines it.
 */
export function serviceRoutes(deps: ServiceRoutesDeps): Route[] {
  const route: Route = {
    prefix: clustersPrefix,
    matches: ({ path }) => isServicePath(path),
    servesPages: true,
    attributes: ({ method }, target) => serviceAttributes(method, parseServiceTarget(target)),
    serve: (admitted) => serve(admitted, deps),
    upgrade: (admitted, client) => upgrade(admitted, client, deps),
  }
  const streams = new UserStreams(servicesLimits.ofOneUser)
  return limitUserStreams([route], streams, (target) => parseServiceTarget(target).cluster)
}

interface Visit extends ServiceTarget {
  readonly isUpgrade?: boolean
  readonly auditId: string
  readonly seen: ServicePlace
  readonly transfer: Transfer
  readonly request: ServiceRequest
}

function open(
  admitted: AuthorizedRequest,
  { audit, isKnown, clusterDomain }: ServiceRoutesDeps,
): Visit {
  const { request, info, auditId } = admitted
  const target = parseServiceTarget(request.target)
  const { cluster, service, place } = target
  if (!isKnown(cluster)) throw unknownCluster(cluster)
  checkEncoding(request.fields())
  const isNamed =
    clusterDomain !== undefined && isHostOf(request.headers['host'], cluster, clusterDomain)
  const { namespace, name, port } = service
  const seen: ServicePlace = {
    prefix: isNamed ? place : `${clustersPrefix}${cluster}${place}`,
    host: `${name}.${namespace}.svc${/^\d+$/.test(port) ? `:${port}` : ''}`,
  }
  const headers = serviceRequestHeaders(request, seen)
  // The hub reads the protocol from the first content type; a service could go by the second.
  if ((headers['content-type'] ?? []).length > 1) throw notSendable('it has two content types')
  const transfer = audit.begin(info, cluster)
  const asked = { method: request.method, target: target.target, host: seen.host, headers }
  return { ...target, auditId, seen, transfer, request: asked }
}

/**
 * Reports whether the request came through the cluster's own host name, where the client's paths do not name
 * the cluster.
 */
function isHostOf(host: string | undefined, cluster: string, clusterDomain: string): boolean {
  const name = (host ?? '').toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')
  return name === `${cluster}.${clusterDomain.toLowerCase()}`
}

async function serve(admitted: AuthorizedRequest, deps: ServiceRoutesDeps): Promise<ApiAnswer> {
  const visit = open(admitted, deps)
  const { transfer, seen } = visit
  const { signal, request } = admitted
  signal.addEventListener('abort', () => transfer.end(endOf(signal)), { once: true })
  if (!visit.hasPath && /^(?:GET|HEAD)$/.test(request.method)) {
    transfer.end()
    return toRoot(visit, request.target)
  }
  try {
    const connection = await connect(visit, deps, signal)
    const sent = hasBody(admitted)
      ? { body: counted(request.body, (bytes) => (transfer.bytesIn += bytes)) }
      : {}
    const answer = await exchange(
      connection,
      { ...visit, request: { ...visit.request, ...sent } },
      signal,
    )
    return toAnswer(answer, seen, transfer)
  } catch (error) {
    transfer.end()
    throw failure(error, visit, signal)
  }
}

/** Redirects to the path with a slash: without it, the page's relative links would lead outside the service. */
function toRoot({ seen }: Visit, target: string): ApiAnswer {
  const at = target.indexOf('?')
  const location = `${seen.prefix}/${at < 0 ? '' : target.slice(at)}`
  return { status: 301, headers: { location }, body: new Uint8Array(0) }
}

async function connect(
  { cluster, service, isTls, auditId, request, isUpgrade = false }: Visit,
  { way, clock, awaySinceMs }: ServiceRoutesDeps,
  signal: AbortSignal,
): Promise<ServiceStream> {
  const { traceparent, tracestate } = request.headers
  const named = {
    'audit-id': auditId,
    ...(traceparent ? { traceparent } : {}),
    ...(tracestate ? { tracestate } : {}),
  }
  try {
    return await connectService(way, { cluster, service, isTls, isUpgrade, named }, signal)
  } catch (error) {
    const asked = { cluster, auditId, nowMs: clock.now(), awaySinceMs: awaySinceMs?.(cluster) }
    throw tunnelRefusal(asked, error)
  }
}

function exchange(
  { stream, spoken }: ServiceStream,
  { request, isTls }: Visit,
  signal: AbortSignal,
): Promise<ServiceAnswer> {
  const isGrpc = /^application\/grpc(?:$|[+;-])/.test(request.headers['content-type']?.[0] ?? '')
  const isHttp2 = spoken === 'h2' || (spoken === 'unknown' && isGrpc)
  return isHttp2
    ? exchangeHttp2(stream, { ...request, isTls }, signal)
    : exchangeHttp1(stream, request, signal)
}

function toAnswer(answer: ServiceAnswer, seen: ServicePlace, transfer: Transfer): ApiAnswer {
  const { status, body, trailers } = answer
  const headers = serviceAnswerHeaders(answer.headers, seen)
  if (body === undefined) {
    transfer.end()
    return { status, headers, body: new Uint8Array(0) }
  }
  return {
    status,
    headers,
    body: answerBody(body, transfer),
    trailers: () => serviceTrailers(trailers()),
  }
}

/** Returns the error for a service that was contacted. Earlier refusals are StatusErrors and stay as they are. */
function failure(error: unknown, { cluster, service }: Visit, signal: AbortSignal): unknown {
  if (error instanceof StatusError || signal.aborted) return error
  if (error instanceof PeerAnswerError) {
    const text = `Cannot use the answer of service ${serviceText(service)} of cluster "${cluster}": ${error.fault}`
    return new StatusError('Unknown', text, { code: 502, cause: error })
  }
  const why = messageOf(error)
  if (isOfRequest(error)) return notSendable(why, error)
  return new StatusError(
    'ServiceUnavailable',
    `Cannot reach service ${serviceText(service)} of cluster "${cluster}": it did not answer: ${why}`,
    { cause: error },
  )
}

/** The codes that Node throws before it sends anything. Only the client's own lines can cause them. */
const requestFaults: ReadonlySet<unknown> = new Set([
  'ERR_HTTP2_HEADER_SINGLE_VALUE',
  'ERR_HTTP2_INVALID_CONNECTION_HEADERS',
  'ERR_INVALID_CHAR',
  'ERR_INVALID_HTTP_TOKEN',
  'ERR_UNESCAPED_CHARACTERS',
])

function isOfRequest(error: unknown): boolean {
  return error instanceof Error && 'code' in error && requestFaults.has(error.code)
}

function notSendable(why: string, cause?: unknown): StatusError {
  const text = `Cannot pass request to a service: ${why}`
  return new StatusError('BadRequest', text, cause === undefined ? {} : { cause })
}

type Client = Parameters<NonNullable<Route['upgrade']>>[1]

async function upgrade(
  admitted: AuthorizedRequest,
  client: Client,
  deps: ServiceRoutesDeps,
): Promise<void> {
  const { signal, request } = admitted
  const target = parseServiceTarget(request.target)
  // A user with read access must not open a session with GET, nor keep one when the right to create is gone.
  await admitted.requireVerb(serviceAttributes('POST', target).verb)
  const visit = open(admitted, deps)
  try {
    const protocol = request.headers['upgrade'] ?? ''
    if (protocol.toLowerCase() === serviceProtocol) await passBytes(visit, client, deps, signal)
    else {
      const answer = await upgraded(visit, protocol, deps, signal)
      await passUpgrade(answer, { ...client, auditId: visit.auditId }, visit.transfer)
    }
  } catch (error) {
    throw failure(error, visit, signal)
  } finally {
    visit.transfer.end(signal.reason === accessEnded ? accessEnded.message : undefined)
  }
}

/** A plain connection, for whatever the service speaks. */
async function passBytes(
  visit: Visit,
  { socket, head }: Client,
  deps: ServiceRoutesDeps,
  signal: AbortSignal,
): Promise<void> {
  if (visit.hasPath || visit.isTls) {
    const why = 'it is asked for by <namespace>/<name>:<port> alone'
    throw new StatusError('BadRequest', `Cannot open a plain connection to a service: ${why}`)
  }
  const { stream } = await connect(visit, deps, signal)
  const { transfer, auditId } = visit
  const lines = ['connection: Upgrade', `upgrade: ${serviceProtocol}`, `audit-id: ${auditId}`]
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`)
  if (head.length > 0) socket.unshift(head)
  const bytes = framedStream(socket)
  stream.on('error', (error) => transfer.end(error.message))
  const joined = joinStreams(bytes, stream)
  bytes.on('data', (chunk: Uint8Array) => (transfer.bytesIn += chunk.length))
  stream.on('data', (chunk: Uint8Array) => (transfer.bytesOut += chunk.length))
  await joined
}

async function upgraded(
  visit: Visit,
  protocol: string,
  deps: ServiceRoutesDeps,
  signal: AbortSignal,
): Promise<TunnelUpgraded> {
  if (!/^[\w./-]{1,64}$/.test(protocol)) {
    throw new StatusError('BadRequest', 'Cannot pass upgrade to a service: bad protocol name')
  }
  const { stream, spoken } = await connect({ ...visit, isUpgrade: true }, deps, signal)
  if (spoken === 'h2') {
    stream.destroy()
    const why = 'it speaks HTTP/2, which has no upgrades'
    throw new StatusError('ServiceUnavailable', `Cannot pass upgrade to a service: ${why}`)
  }
  return upgradeHttp1(stream, { ...visit.request, protocol }, signal)
}
