import { asError, linkedSignal, type Clock, type Logger } from '@skerry/base'
import type {
  HubReplica,
  TunnelHandler,
  TunnelRegistry,
  TunnelRequest,
  TunnelResponse,
  TunnelSession,
} from '@skerry/tunnel'
import { readJson } from './replica-answer.ts'
import { replicaIdShape } from './replica-identity.ts'
import { gatewayBounds } from '../limits-table.ts'

/**
 * The path at which an agent of a hub with several replicas receives the replica's id and the number of
 * replicas.
 */
const noticePath = '/skerry/v1/hub-replica'
const { noticeBytesMax, answerMs, heldCharsMax } = gatewayBounds.replicaNotice

/** In an agent's handshake: the replicas where its other tunnels end. */
const heldHeader = 'skerry-agent-replicas'

export function heldReplicasHeaders(held: readonly string[]): Record<string, string> {
  return held.length === 0 ? {} : { [heldHeader]: held.join(',') }
}

/** Reports whether a connecting agent already has a tunnel to this replica. */
export function holdsReplica(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  id: string | undefined,
): boolean {
  const held = headers[heldHeader]
  if (typeof held !== 'string' || held.length > heldCharsMax || id === undefined) return false
  return held.split(',').includes(id)
}

/** At the agent: receives the notices of one tunnel. All other requests go on to the handler. */
export function withReplicaNotices(
  handler: TunnelHandler,
  onReplica: (replica: HubReplica) => void,
): TunnelHandler {
  return {
    async onRequest(request, signal) {
      if (!isNotice(request)) return handler.onRequest(request, signal)
      const replica = replicaOf(await noticeOf(request))
      if (replica) onReplica(replica)
      return emptyAnswer(replica ? 204 : 400)
    },
    onUpgrade: (request, signal) => handler.onUpgrade(request, signal),
  }
}

/** Reports whether the request is the hub's own: requests that it forwards for a user name that user. */
function isNotice({ path, method, headers }: TunnelRequest): boolean {
  return path === noticePath && method === 'POST' && headers['impersonate-user'] === undefined
}

async function noticeOf({ body }: TunnelRequest): Promise<unknown> {
  if (body === undefined) return undefined
  return readJson(body instanceof Uint8Array ? piecesOf(body) : body, noticeBytesMax)
}

async function* piecesOf(...pieces: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces
}

/** Returns undefined if the notice is not one of this version's hubs. */
function replicaOf(notice: unknown): HubReplica | undefined {
  if (typeof notice !== 'object' || notice === null) return undefined
  if (!('id' in notice) || !('count' in notice)) return undefined
  const { id, count } = notice
  const isReplica = typeof id === 'string' && replicaIdShape.test(id)
  const isCount = typeof count === 'number' && Number.isSafeInteger(count) && count > 0
  return isReplica && isCount ? { id, count } : undefined
}

function emptyAnswer(status: number): TunnelResponse {
  return { status, headers: { 'content-length': '0' }, body: piecesOf() }
}

export interface ReplicaTellerParts {
  /** The agents' tunnels that end in this process. */
  readonly own: Pick<TunnelRegistry, 'sessions' | 'identities'>
  /** Returns undefined while there is nothing to report. */
  readonly replica: () => HubReplica | undefined
  readonly clock: Clock
  readonly log: Logger
}

export interface ReplicaTeller {
  /** Notifies a tunnel that has just opened. */
  tell(session: TunnelSession): void
  /** All of them, those that do not know it yet. */
  tellAll(): void
}

/** At the hub: reports the number of replicas to agents, so that each may have a tunnel to each. */
export function createReplicaTeller(parts: ReplicaTellerParts): ReplicaTeller {
  const told = new WeakMap<TunnelSession, number>()
  const tell = (session: TunnelSession): void => {
    const replica = parts.replica()
    if (replica === undefined || told.get(session) === replica.count) return
    told.set(session, replica.count)
    send(session, replica, parts.clock).catch((error: unknown) => {
      // The tunnel ended, or the next change notifies it.
      told.delete(session)
      const cause = asError(error)
      parts.log.debug('Agent not notified of replicas', { error: cause })
    })
  }
  return {
    tell,
    tellAll() {
      for (const cluster of parts.own.identities()) parts.own.sessions(cluster).forEach(tell)
    },
  }
}

async function send(session: TunnelSession, replica: HubReplica, clock: Clock): Promise<void> {
  using scope = linkedSignal(new AbortController().signal)
  using _late = clock.setTimer(answerMs, () => scope.abort(new Error('The agent is slow')))
  const body = Buffer.from(JSON.stringify(replica))
  const headers = { 'content-type': 'application/json', 'content-length': String(body.length) }
  const request = { method: 'POST', path: noticePath, headers, body }
  const answer = await session.send(request, scope.signal)
  // An agent of an older version refuses what names no user.
  await readJson(answer.body)
}
