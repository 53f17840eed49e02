import { PeerAnswerError } from '@skerry/base'
import {
  BadMessageError,
  isSwitched,
  TunnelBusyError,
  TunnelClosedError,
  TunnelStreamError,
  TunnelUnavailableError,
  type TunnelHandler,
  type TunnelHeaders,
  type TunnelRequest,
  type TunnelResponse,
  type TunnelUpgraded,
} from '@skerry/tunnel'
import { gatewayBounds } from '../limits-table.ts'
import type { ClusterWay } from '../way/cluster-way.ts'

/** Marks an answer between replicas: a cluster's own, or the reason why there is none. */
const answerHeader = 'skerry-replica-answer'
const clusterPath = /^\/clusters\/([a-z0-9-]{1,63})(\/.*)$/
const reportsPath = /^\/reports\/([a-z0-9-]{1,63}(?:,[a-z0-9-]{1,63})*)$/
const { refusalBytesMax, reportsBytesMax } = gatewayBounds.replicaAnswer

/** The request as another replica is asked it. */
export function toReplica(cluster: string, request: TunnelRequest): TunnelRequest {
  return { ...request, path: `/clusters/${cluster}${request.path}` }
}

/** Takes at most `clustersPerReport` clusters. */
export function reportsRequest(clusters: readonly string[]): TunnelRequest {
  return { method: 'GET', path: `/reports/${clusters.join(',')}`, headers: {} }
}

/** A list, in the order of the names; undefined from a replica of another version. */
export async function readReports(body: AsyncIterable<Uint8Array>): Promise<unknown> {
  return readJson(body, reportsBytesMax)
}

/**
 * Answers other replicas from the tunnels that end here only, so that a forwarded request is never forwarded
 * again.
 */
export function createReplicaHandler(
  own: ClusterWay,
  report: (cluster: string) => object,
): TunnelHandler {
  return {
    async onRequest(request, signal) {
      const [, reported] = reportsPath.exec(request.path) ?? []
      if (reported !== undefined) return answerOf('own', reported.split(',').map(report))
      return answered(request, signal, async (cluster, inner) =>
        ownAnswer(await own.send(cluster, inner, signal)),
      )
    },
    async onUpgrade(request, signal) {
      return answered(request, signal, async (cluster, inner) => {
        const answer = await own.upgrade(cluster, inner, signal)
        return isSwitched(answer) ? answer : ownAnswer(answer)
      })
    },
  }
}

async function answered<Answer>(
  request: TunnelRequest,
  signal: AbortSignal,
  ask: (cluster: string, inner: TunnelRequest) => Promise<Answer>,
): Promise<Answer | TunnelResponse> {
  const [, cluster = '', path = ''] = clusterPath.exec(request.path) ?? []
  try {
    if (cluster === '') throw new BadMessageError('Cannot pass request: its path names no cluster')
    return await ask(cluster, { ...request, path })
  } catch (error) {
    if (signal.aborted) throw error
    const refusal = refusalOf(error)
    if (!refusal) throw error
    return answerOf('none', { ...refusal })
  }
}

/** The cluster's own, which must not pass for a replica's. */
function ownAnswer(answer: TunnelResponse): TunnelResponse {
  return { ...answer, headers: { ...answer.headers, [answerHeader]: 'own' } }
}

function answerOf(kind: 'own' | 'none', content: object): TunnelResponse {
  const body = Buffer.from(JSON.stringify(content))
  const headers = { [answerHeader]: kind, 'content-length': String(body.length) }
  return { status: kind === 'own' ? 200 : 503, headers, body: onePiece(body) }
}

async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

interface Refusal {
  readonly type: keyof typeof errorOf
  readonly message: string
  readonly sinceMs?: number
  readonly status?: number
}

/** Returns undefined for a bug of the program. */
function refusalOf(error: unknown): Refusal | undefined {
  if (!(error instanceof Error)) return undefined
  const { message } = error
  if (error instanceof TunnelUnavailableError) {
    const { sinceMs } = error
    return { type: 'unavailable', message, ...(sinceMs === undefined ? {} : { sinceMs }) }
  }
  if (error instanceof TunnelBusyError) return { type: 'busy', message }
  if (error instanceof TunnelClosedError) return { type: error.isSent ? 'sent' : 'closed', message }
  if (error instanceof TunnelStreamError) return { type: 'broken', message }
  if (error instanceof PeerAnswerError) return { type: 'answer', message: error.fault }
  if (error instanceof BadMessageError) return { type: 'bad', message, status: error.status }
  return undefined
}

const withoutPrefix = (message: string): string => message.replace(/^Cannot [^:]*: /, '')

/** Recreates the other replica's error, so that a client gets the same answer from every replica. */
const errorOf = Object.freeze({
  unavailable: ({ message, sinceMs }: Refusal, cluster: string): Error =>
    new TunnelUnavailableError(
      cluster,
      sinceMs === undefined ? undefined : { reason: withoutPrefix(message), atMs: sinceMs },
    ),
  busy: ({ message }: Refusal): Error => new TunnelBusyError(message),
  closed: ({ message }: Refusal): Error =>
    new TunnelClosedError(withoutPrefix(message), { isSent: false }),
  sent: ({ message }: Refusal): Error =>
    new TunnelClosedError(withoutPrefix(message), { isSent: true }),
  broken: ({ message }: Refusal): Error => new TunnelStreamError(message),
  answer: ({ message }: Refusal): Error => new PeerAnswerError('the agent', message),
  bad: ({ message, status }: Refusal): Error =>
    new BadMessageError(message, status === 414 || status === 431 ? status : 400),
})

/**
 * Returns the cluster's answer that came through another replica. Throws the error that the other replica
 * met.
 */
export async function fromReplica<Answer extends TunnelUpgraded>(
  cluster: string,
  answer: Answer,
): Promise<Answer> {
  if (isSwitched(answer)) return answer
  const { [answerHeader]: kind, ...headers } = answer.headers
  if (kind === 'own') return { ...answer, headers: headers satisfies TunnelHeaders }
  if (kind === 'none') throw await readRefusal(cluster, answer)
  await answer.body[Symbol.asyncIterator]().return?.()
  throw new TunnelStreamError('Cannot pass request: the other replica failed')
}

async function readRefusal(cluster: string, { body }: TunnelResponse): Promise<Error> {
  const refusal = await readJson(body)
  const type = typeof refusal === 'object' && refusal && 'type' in refusal ? refusal.type : ''
  if (typeof type !== 'string' || !Object.hasOwn(errorOf, type)) {
    return new TunnelStreamError('Cannot pass request: the other replica is of another version')
  }
  // Its type is one of ours, so refusalOf wrote the rest, too.
  const known = refusal as Refusal
  return errorOf[known.type](known, cluster)
}

/** Resolves undefined if the body is not JSON, or is too long. */
export async function readJson(
  body: AsyncIterable<Uint8Array>,
  bytesMax: number = refusalBytesMax,
): Promise<unknown> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.length
    if (bytes > bytesMax) return undefined
    pieces.push(piece)
  }
  try {
    return JSON.parse(Buffer.concat(pieces).toString('utf8'))
  } catch {
    // The caller reports the error.
    return undefined
  }
}
