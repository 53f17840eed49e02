import { StatusError } from '@skerry/api'
import {
  accessEnded,
  openWatchSocket,
  type ApiAnswer,
  type AuthorizedRequest,
  type Route,
} from '@skerry/apiserver'
import { messageOf, type Clock, type Logger, type Random } from '@skerry/base'
import {
  isSwitched,
  WholeBody,
  type TunnelHeaders,
  type TunnelRequest,
  type TunnelResponse,
} from '@skerry/tunnel'
import { clusterResource } from '@skerry/fleet-kinds'
import { createClusterWatches, type ClusterWatches } from '../watch/cluster-watches.ts'
import { isSocketWatch, withoutSocket } from '../watch/watch-over-socket.ts'
import { isWatch } from '../watch/watch-request.ts'
import type { ClusterWay } from '../way/cluster-way.ts'
import type { ClusterAudit, Transfer } from './cluster-audit.ts'
import {
  aggregatedPrefix,
  clusterProxyAttributes,
  onlyReads,
  clustersPrefix,
  parseClusterTarget,
  type ClusterTarget,
} from './cluster-path.ts'
import { answeredHeaders, checkEncoding, forwardedHeaders } from './forwarded-headers.ts'
import { passUpgrade } from './pass-upgrade.ts'
import { tunnelRefusal } from './tunnel-refusal.ts'
import { warnOfRefusal } from './warn-of-refusal.ts'

export interface ClusterProxyDeps {
  readonly way: ClusterWay
  readonly audit: ClusterAudit
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Reports whether a Cluster of this name is registered. */
  readonly isKnown: (cluster: string) => boolean
  /**
   * Returns the time from which the Cluster reports that it is not connected, in milliseconds since the
   * epoch.
   */
  readonly awaySinceMs?: (cluster: string) => number | undefined
}

/**
 * Serves `/clusters/<name>/…` and Karmada's `…/clusters/<name>/proxy/…`: an edge cluster's native API, for
 * users whom the hub has authenticated and whom its RBAC allows clusters/proxy.
 */
export function clusterProxyRoutes(deps: ClusterProxyDeps): Route[] {
  const watches = createClusterWatches(deps)
  const shared: Omit<Route, 'prefix'> = {
    attributes: ({ method }, target) => clusterProxyAttributes(method, parseClusterTarget(target)),
    serve: (admitted) =>
      serve(admitted, deps, watches).catch((error: unknown) => {
        warnOfRefusal(admitted, error)
        throw error
      }),
    upgrade: async (admitted, client) => {
      if (!onlyReads(parseClusterTarget(admitted.request.target))) {
        await admitted.requireVerb('create')
      }
      const passage = open(admitted, deps)
      const { transfer, cluster, request } = passage
      const { mayGoOn, signal, auditId } = admitted
      const asked = { cluster, request: withoutSocket(request), mayGoOn }
      const upgrading = { ...request, headers: withUpgrade(request.headers, admitted) }
      const isEvents = isSocketWatch(admitted, request)
      try {
        const answer = isEvents
          ? await watches.send(asked, signal)
          : await deps.way.upgrade(cluster, upgrading, signal)
        if (isEvents && !isSwitched(answer) && answer.status === 200) {
          const events = { ...answer, body: answerBody(answer.body, transfer) }
          await openWatchSocket(events, admitted.request, client)
        } else await passUpgrade(answer, { ...client, auditId }, transfer)
      } catch (error) {
        throw refusal(cluster, admitted, deps, error)
      } finally {
        transfer.end(admitted.signal.reason === accessEnded ? accessEnded.message : undefined)
      }
    },
  }
  return [
    { ...shared, prefix: clustersPrefix },
    {
      ...shared,
      prefix: aggregatedPrefix,
      matches: ({ isResourceRequest, resource, subresource }) =>
        isResourceRequest && resource.resource === 'clusters' && subresource === 'proxy',
    },
  ]
}

interface Passage extends ClusterTarget {
  readonly transfer: Transfer
  readonly request: TunnelRequest
}

function open(admitted: AuthorizedRequest, { audit, isKnown }: ClusterProxyDeps): Passage {
  const { request, user, auditId, info } = admitted
  const target = parseClusterTarget(request.target)
  const { cluster } = target
  if (!isKnown(cluster)) throw unknownCluster(cluster)
  const fields = request.fields()
  checkEncoding(fields)
  const { peer } = request
  const headers = forwardedHeaders({
    fields,
    user,
    auditId,
    sourceAddress: peer.type === 'socket' ? peer.address : '',
  })
  const transfer = audit.begin(info, cluster)
  return { ...target, transfer, request: { method: request.method, path: target.target, headers } }
}

async function serve(
  admitted: AuthorizedRequest,
  deps: ClusterProxyDeps,
  watches: ClusterWatches,
): Promise<ApiAnswer> {
  const { transfer, cluster, request } = open(admitted, deps)
  const { signal, mayGoOn } = admitted
  // The signal also ends the transfer if the body is never read: the client may disconnect before its first
  // byte.
  signal.addEventListener('abort', () => transfer.end(endOf(signal)), { once: true })
  const sent = hasBody(admitted)
    ? { ...request, body: counted(admitted.request.body, (bytes) => (transfer.bytesIn += bytes)) }
    : request
  try {
    const answer =
      sent === request && isWatch(request)
        ? await watches.send({ cluster, request, mayGoOn }, signal)
        : await deps.way.send(cluster, sent, signal)
    return await toAnswer(answer, admitted, transfer)
  } catch (error) {
    transfer.end()
    throw refusal(cluster, admitted, deps, error)
  }
}

/** Returns why a request ended before its answer did. */
export function endOf({ reason }: AbortSignal): string {
  return reason === accessEnded ? accessEnded.message : 'the client went away'
}

function refusal(
  cluster: string,
  { auditId }: AuthorizedRequest,
  { clock, awaySinceMs }: ClusterProxyDeps,
  error: unknown,
): unknown {
  const nowMs = clock.now()
  return tunnelRefusal({ cluster, auditId, nowMs, awaySinceMs: awaySinceMs?.(cluster) }, error)
}

async function toAnswer(
  answer: TunnelResponse,
  { request }: AuthorizedRequest,
  transfer: Transfer,
): Promise<ApiAnswer> {
  const headers = answeredHeaders(answer.headers)
  const { body } = answer
  if (request.method !== 'HEAD' && body instanceof WholeBody && body.bytes.length > 0) {
    transfer.bytesOut += body.bytes.length
    transfer.end()
    return { status: answer.status, headers, body: body.bytes }
  }
  // Without a body object the server would add a length, which some answers must not have (RFC 9110, 8.6).
  if (request.method !== 'HEAD') {
    return { status: answer.status, headers, body: answerBody(answer.body, transfer) }
  }
  await answer.body[Symbol.asyncIterator]().return?.()
  transfer.end()
  return { status: answer.status, headers, body: nothing() }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

export async function* counted(
  body: AsyncIterable<Uint8Array>,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    onBytes(chunk.length)
    yield chunk
  }
}

export async function* answerBody(
  body: AsyncIterable<Uint8Array>,
  transfer: Transfer,
): AsyncGenerator<Uint8Array> {
  let cause: string | undefined = 'the client stopped reading'
  try {
    // A generator within this one would cost several promises more for each piece.
    for await (const chunk of body) {
      transfer.bytesOut += chunk.length
      yield chunk
    }
    cause = undefined
  } catch (error) {
    cause = messageOf(error)
    throw error
  } finally {
    transfer.end(cause)
  }
}

/** A GET with an empty chunked body would surprise the edge; others may have one without saying so. */
export function hasBody({ request }: AuthorizedRequest): boolean {
  const length = request.headers['content-length']
  if (length !== undefined) return length !== '0'
  return request.headers['transfer-encoding'] !== undefined || !/^(GET|HEAD)$/.test(request.method)
}

function withUpgrade(headers: TunnelHeaders, { request }: AuthorizedRequest): TunnelHeaders {
  const { upgrade } = request.headers
  if (upgrade === undefined || !/^[\w./-]{1,64}$/.test(upgrade)) {
    throw new StatusError('BadRequest', 'Cannot pass upgrade to a cluster: bad protocol name')
  }
  return { ...headers, connection: 'Upgrade', upgrade }
}

export function unknownCluster(name: string): StatusError {
  const { group, resource } = clusterResource
  return new StatusError('NotFound', `${resource}.${group} "${name}" not found`, {
    details: { name, group, kind: resource },
  })
}
