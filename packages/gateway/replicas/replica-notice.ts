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

/** Where an agent of a hub with several replicas is told which one it has reached, and how many there are. */
const noticePath = '/skerry/v1/hub-replica'
const noticeBytesMax = 1_024
const answerMs = 10_000

/** In an agent's handshake: the replicas where its other tunnels end. */
const heldHeader = 'skerry-agent-replicas'
const heldCharsMax = 1_024

export function heldReplicasHeaders(held: readonly string[]): Record<string, string> {
  return held.length === 0 ? {} : { [heldHeader]: held.join(',') }
}

/** Whether an agent that comes says that it has a tunnel to this replica. */
export function holdsReplica(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  id: string | undefined,
): boolean {
  const held = headers[heldHeader]
  if (typeof held !== 'string' || held.length > heldCharsMax || id === undefined) return false
  return held.split(',').includes(id)
}

/** At the agent: hears the notices of one tunnel. All else goes on to the handler. */
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

/** The hub's own: whatever it passes on for a user says who that is. */
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

/** Undefined for what no hub of this version says. */
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
  /** Agents' tunnels that end in this process. */
  readonly own: Pick<TunnelRegistry, 'sessions' | 'identities'>
  /** Undefined while there is nothing to tell. */
  readonly replica: () => HubReplica | undefined
  readonly clock: Clock
  readonly log: Logger
}

export interface ReplicaTeller {
  /** One that has just been opened. */
  tell(session: TunnelSession): void
  /** All of them, those that do not know it yet. */
  tellAll(): void
}

/** At the hub: tells agents how many replicas there are, so that each may have a tunnel to each. */
export function createReplicaTeller(parts: ReplicaTellerParts): ReplicaTeller {
  const told = new WeakMap<TunnelSession, number>()
  const tell = (session: TunnelSession): void => {
    const replica = parts.replica()
    if (replica === undefined || told.get(session) === replica.count) return
    told.set(session, replica.count)
    send(session, replica, parts.clock).catch((error: unknown) => {
      // It ended, or is told with the next change.
      told.delete(session)
      const cause = asError(error)
      parts.log.debug('Agent not told of replicas', { error: cause })
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
