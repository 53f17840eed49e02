import { exactFieldValue, parseFieldSelector, type StatusError } from '@skerry/api'
import { linkedSignal, type Clock, type Logger, type Random } from '@skerry/base'
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Attributes, Authorizer, UserInfo } from './access.ts'
import type { Annotate } from './admission.ts'
import type { AuditSink } from './audit.ts'
import { chainAuthorizers, requireAllowed } from './authz/authorizer-chain.ts'
import { errorAnswer } from './handlers/error-answer.ts'
import { compressed } from './http/compress.ts'
import { isWhole, noBody, type ApiAnswer, type ApiRequest } from './http/exchange.ts'
import { parseRequestInfo, type RequestInfo } from './http/request-info.ts'
import {
  requestTimeout,
  statusAnswer,
  tooManyRequests,
  toStatusError,
} from './http/status-answer.ts'
import { identify, type Caller } from './identify.ts'
import type { ApiServerLimits } from './limits-table.ts'
import { newUid } from './registry/request-scope.ts'
import type { RequestMetrics } from './request-metrics.ts'
import type { Access } from './server-access.ts'

/** An authorized request. */
export interface Admitted {
  readonly request: ApiRequest
  readonly info: RequestInfo
  readonly user: UserInfo
  /** Also in the answer's Audit-Id header and in the audit record. */
  readonly auditId: string
  readonly warn: (text: string) => void
  /** Into the audit event; absent where none is written. */
  readonly annotate?: Annotate
  /** Aborts when the client is gone or the time for the request is over. */
  readonly signal: AbortSignal
}

export interface PipelineDeps {
  readonly access: Access
  readonly limits: ApiServerLimits
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly metrics: RequestMetrics
  readonly audit: AuditSink
  readonly serve: (admitted: Admitted) => Promise<ApiAnswer>
  readonly upgrade: (
    admitted: Admitted,
    client: { socket: Duplex; head: Uint8Array },
  ) => Promise<void>
  /** Attributes of paths that others serve, where they differ from what the path itself says. */
  readonly attributes?: (info: RequestInfo, target: string) => Omit<Attributes, 'user'> | undefined
  /** True for paths whose requests may last. */
  readonly isLongRunning: (info: RequestInfo) => boolean
}

export interface Pipeline {
  /** Never rejects. */
  onRequest(request: ApiRequest): Promise<ApiAnswer>
  onUpgrade(request: ApiRequest, socket: Duplex, head: Uint8Array): Promise<void>
}

/** request info → authn → impersonation → authz → bounds → handler, and the answer's frame. */
export function createPipeline(deps: PipelineDeps): Pipeline {
  const authorizer = chainAuthorizers(deps.access.authorizers)
  const inFlight: InFlight = { reads: 0, writes: 0 }
  return {
    onRequest: (request) => answerRequest(request, { deps, authorizer, inFlight }),
    onUpgrade: (request, socket, head) =>
      answerUpgrade(request, { socket, head }, { deps, authorizer, inFlight }),
  }
}

/** What is recorded of an upgrade that went through, when it ends. */
const switchedStatus = 101

interface InFlight {
  reads: number
  writes: number
}

interface Running {
  deps: PipelineDeps
  authorizer: Authorizer
  inFlight: InFlight
}

async function answerRequest(request: ApiRequest, running: Running): Promise<ApiAnswer> {
  const { deps } = running
  const exchange = begin(request, deps)
  const { info, auditId } = exchange
  const warnings = new Set<string>()
  let answer: ApiAnswer
  try {
    const caller = await identify(request, deps.access)
    exchange.caller = caller
    const admitted = {
      request,
      info,
      auditId,
      user: caller.user,
      warn: (text: string) => void warnings.add(text),
      signal: request.signal,
    }
    await requireAllowed(running.authorizer, attributesOf(admitted, deps))
    answer = await serveBounded(admitted, running)
  } catch (error) {
    answer = await errorAnswer(reported(error, info, deps), request)
  }
  answer = await framed(answer, { auditId, warnings, request, limits: deps.limits })
  const durationMs = record(exchange, answer.status, deps)
  deps.metrics.observe(info, { status: answer.status, durationMs })
  return answer
}

/** One request from its start to its record. */
interface Exchange {
  readonly request: ApiRequest
  readonly info: RequestInfo
  readonly auditId: string
  readonly startedAtMs: number
  readonly startedMs: number
  caller: Caller | undefined
}

function begin(request: ApiRequest, { clock, random }: PipelineDeps): Exchange {
  return {
    request,
    info: parseRequestInfo(request.method, request.target),
    auditId: request.headers['audit-id'] ?? newUid(random),
    startedAtMs: clock.now(),
    startedMs: clock.monotonicMs(),
    caller: undefined,
  }
}

function record(exchange: Exchange, status: number, { clock, audit }: PipelineDeps): number {
  const { request, info, auditId, startedAtMs, startedMs, caller } = exchange
  const durationMs = clock.monotonicMs() - startedMs
  audit({
    auditId,
    info,
    uri: request.target,
    user: caller?.user,
    impersonator: caller?.impersonator,
    sourceAddress: request.peer.type === 'socket' ? request.peer.address : '',
    userAgent: request.headers['user-agent'] ?? '',
    status,
    startedAtMs,
    durationMs,
  })
  return durationMs
}

async function answerUpgrade(
  request: ApiRequest,
  client: { socket: Duplex; head: Uint8Array },
  running: Running,
): Promise<void> {
  const { deps } = running
  const exchange = begin(request, deps)
  const { info, auditId } = exchange
  try {
    const caller = await identify(request, deps.access)
    exchange.caller = caller
    const { signal } = request
    const admitted = { request, info, auditId, user: caller.user, warn: () => undefined, signal }
    await requireAllowed(running.authorizer, attributesOf(admitted, deps))
    await deps.upgrade(admitted, client)
    record(exchange, switchedStatus, deps)
  } catch (error) {
    const answer = statusAnswer(reported(error, info, deps))
    record(exchange, answer.status, deps)
    if (client.socket.destroyed) return
    const body = isWhole(answer.body) ? answer.body : noBody
    const head = [
      `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? 'Refused'}`,
      ...Object.entries(answer.headers).map(([name, value]) => `${name}: ${String(value)}`),
      `content-length: ${body.length}`,
      'connection: close',
    ]
    client.socket.write(`${head.join('\r\n')}\r\n\r\n`)
    client.socket.end(body)
  }
}

/** As the client may read it; the log says more. */
function reported(error: unknown, info: RequestInfo, { log }: PipelineDeps): StatusError {
  const statusError = toStatusError(error)
  if (statusError.reason === 'InternalError') {
    const cause = error instanceof Error ? error : new Error(String(error))
    log.error('Request failed', { method: info.method, path: info.path, error: cause })
    log.debug('Request failed at', { stack: cause.stack ?? '' })
  }
  return statusError
}

async function serveBounded(admitted: Admitted, { deps, inFlight }: Running): Promise<ApiAnswer> {
  const { info, user } = admitted
  if (deps.isLongRunning(info)) return deps.serve(admitted)
  const isWrite = info.method !== 'GET' && info.method !== 'HEAD'
  const side = isWrite ? 'writes' : 'reads'
  const max = isWrite ? deps.limits.writesInFlightMax : deps.limits.readsInFlightMax
  // Whoever repairs an overloaded server must get in.
  if (inFlight[side] >= max && !user.groups.includes('system:masters')) throw tooManyRequests()
  inFlight[side] += 1
  try {
    return await serveInTime(admitted, deps)
  } finally {
    inFlight[side] -= 1
  }
}

async function serveInTime(admitted: Admitted, deps: PipelineDeps): Promise<ApiAnswer> {
  using scope = linkedSignal(admitted.signal)
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  scope.signal.addEventListener('abort', () => reject(scope.signal.reason), { once: true })
  // The race below may be over when it rejects.
  stopped.catch(() => undefined)
  using _timer = deps.clock.setTimer(deps.limits.requestTimeoutMs, () =>
    scope.abort(requestTimeout()),
  )
  return await Promise.race([deps.serve({ ...admitted, signal: scope.signal }), stopped])
}

interface Frame {
  auditId: string
  warnings: ReadonlySet<string>
  request: ApiRequest
  limits: ApiServerLimits
}

/** Headers that every answer has, compression, and no body for HEAD. */
async function framed(answer: ApiAnswer, frame: Frame): Promise<ApiAnswer> {
  const { auditId, warnings, request, limits } = frame
  const headers: Record<string, string | readonly string[]> = {
    'audit-id': auditId,
    'cache-control': 'no-cache, private',
    ...answer.headers,
  }
  if (warnings.size > 0) headers['warning'] = warningHeaders(warnings, limits.warningsBytesMax)
  const { peer } = request
  const full =
    peer.type === 'process'
      ? { ...answer, headers }
      : await compressed(
          { ...answer, headers },
          request.headers['accept-encoding'],
          limits.gzipBytesMin,
        )
  const isHead = request.method === 'HEAD'
  if (!isWhole(full.body)) return isHead ? { ...full, body: noBody } : full
  const withLength = { ...full.headers, 'content-length': String(full.body.length) }
  return { status: full.status, headers: withLength, body: isHead ? noBody : full.body }
}

function warningHeaders(warnings: ReadonlySet<string>, bytesMax: number): string[] {
  const out: string[] = []
  let bytes = 0
  for (const text of warnings) {
    const escaped = text.replaceAll(/[\r\n]+/g, ' ').replaceAll(/["\\]/g, (char) => `\\${char}`)
    bytes += escaped.length
    if (bytes > bytesMax) break
    out.push(`299 - "${escaped}"`)
  }
  return out
}

/** A list or watch of exactly one name is authorized as that name: nodes follow their pods' objects so. */
function selectedName(fieldSelector: string | null): string {
  if (fieldSelector === null) return ''
  try {
    return exactFieldValue(parseFieldSelector(fieldSelector), 'metadata.name') ?? ''
  } catch {
    // A malformed selector names nothing; the handler refuses it with the reason.
    return ''
  }
}

function attributesOf({ info, user, request }: Admitted, deps: PipelineDeps): Attributes {
  const { query } = info
  const others = deps.attributes?.(info, request.target)
  if (others) return { ...others, user }
  const fieldSelector = query.get('fieldSelector')
  const labelSelector = query.get('labelSelector')
  const common = { user, verb: info.verb, path: info.path }
  if (!info.isResourceRequest) return { ...common, isResourceRequest: false }
  return {
    ...common,
    isResourceRequest: true,
    resource: info.resource,
    subresource: info.subresource,
    namespace: info.namespace,
    name: info.name === '' ? selectedName(fieldSelector) : info.name,
    ...(fieldSelector === null ? {} : { fieldSelector }),
    ...(labelSelector === null ? {} : { labelSelector }),
  }
}
