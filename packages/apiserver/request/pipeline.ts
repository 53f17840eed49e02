import { StatusError } from '@skerry/api'
import {
  asError,
  http1Head,
  linkedSignal,
  whenAborted,
  type Clock,
  type LinkedSignal,
  type Logger,
  type Random,
} from '@skerry/base'
import type { Attributes, Authorizer, UserInfo } from '../contract/access.ts'
import type { AuditSink } from '../contract/audit.ts'
import { isMistake, type AuditEntry, type AuditTrail } from '../audit/audit-trail.ts'
import { unauthorized } from '../authn/token-authenticator.ts'
import { haveRunOut } from '../authn/run-out.ts'
import { chainAuthorizers, forbidden } from '../authz/authorizer-chain.ts'
import { FlowRejection, type FlowControl } from '../flow-control/flow-control.ts'
import { errorAnswer } from '../handlers/error-answer.ts'
import { answerHead } from '../http/answer-head.ts'
import { auditIdOf } from '../http/audit-id.ts'
import { compressed, GzipStreams } from '../http/compress.ts'
import {
  isPushed,
  isWhole,
  noBody,
  type AnswerBody,
  type ApiAnswer,
  type ApiRequest,
  type ClientConnection,
  type ReaderOf,
} from '../contract/exchange.ts'
import type { RequestBodies } from '../http/request-bodies.ts'
import { parseRequestInfo, type RequestInfo } from '../contract/request-info.ts'
import { requireFewParameters, withoutManyParameters } from '../http/query-size.ts'
import {
  requestTimeout,
  statusAnswer,
  tooManyRequests,
  toStatusError,
} from '../contract/status-answer.ts'
import { warningHeaders } from '../http/warning-headers.ts'
import {
  openRequestTrace,
  type RequestTrace,
  type RequestTracing,
} from '../tracing/request-trace.ts'
import { identify, type Caller } from './identify.ts'
import { accessEnded, type LastingRequests } from './lasting-requests.ts'
import type { ApiServerLimits } from '../limits-table.ts'
import { requestAttributes, type RequestAttributes } from '../contract/request-attributes.ts'
import type { AuthorizedRequest, RequestRights } from '../contract/authorized-request.ts'
import { requireFreeStream } from './free-stream.ts'
import { isOfPages, requireOwnOrigin } from './own-origin.ts'
import { createRequestRights, requireRight } from './request-rights.ts'
import type { RequestMetrics } from './request-metrics.ts'
import type { Access } from './server-access.ts'
import type { UpgradeClient } from '../contract/subresource.ts'

/** The records of each request. */
export interface RequestRecords {
  readonly metrics: RequestMetrics
  readonly audit: AuditSink
  /** If omitted, no events are written. */
  readonly trail?: AuditTrail | undefined
  /** If omitted, nothing is traced, and clients' trace headers are passed on unchanged. */
  readonly tracing?: RequestTracing | undefined
}

/** Rules that depend on a request's path. */
export interface PathRules {
  /** Returns the target that a request means, if it differs from its own. May refuse with a StatusError. */
  readonly retarget?: ((request: ApiRequest) => string) | undefined
  /** Returns the attributes of other handlers' paths, if they differ from those of the path itself. */
  readonly attributes?: (info: RequestInfo, target: string) => RequestAttributes | undefined
  /** Returns true for paths whose answers are pages that load more from below them; see requireOwnOrigin. */
  readonly servesPages?: (info: RequestInfo) => boolean
  /** Returns true for paths whose requests may last. */
  readonly isLongRunning: (info: RequestInfo) => boolean
}

export interface PipelineDeps {
  readonly access: Access
  readonly limits: ApiServerLimits
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly records: RequestRecords
  readonly paths: PathRules
  readonly bodies: RequestBodies
  /** If omitted, the number of requests in flight is the only limit. */
  readonly flowControl?: FlowControl | undefined
  /** If omitted, an admitted request goes on until it ends. */
  readonly lasting?: LastingRequests | undefined
  readonly serve: (admitted: AuthorizedRequest) => Promise<ApiAnswer>
  readonly upgrade: (admitted: AuthorizedRequest, client: UpgradeClient) => Promise<void>
}

export interface Pipeline {
  /** Never rejects. */
  onRequest(request: ApiRequest): Promise<ApiAnswer>
  onUpgrade(request: ApiRequest, client: ClientConnection): Promise<void>
}

/** request info → authn → impersonation → authz → limits → handler, and the common headers of answers. */
export function createPipeline(deps: PipelineDeps): Pipeline {
  const authorizer = chainAuthorizers(deps.access.authorizers)
  const inFlight: InFlight = { reads: 0, writes: 0, gzips: new GzipStreams() }
  return {
    onRequest: (request) => answerRequest(request, { deps, authorizer, inFlight }),
    onUpgrade: (request, client) => answerUpgrade(request, client, { deps, authorizer, inFlight }),
  }
}

/** The status recorded at the end of a successful upgrade. Any other upgrade records its answer's status. */
const switchedStatus = 101

interface InFlight {
  readonly gzips: GzipStreams
  reads: number
  writes: number
}

interface Running {
  deps: PipelineDeps
  authorizer: Authorizer
  inFlight: InFlight
}

async function answerRequest(received: ApiRequest, running: Running): Promise<ApiAnswer> {
  const { deps } = running
  const exchange = begin(received, false, deps)
  const { request, info, auditId } = exchange
  const warnings = new Set<string>()
  let answer: ApiAnswer
  try {
    const caller = await identified(exchange, deps)
    const { requireVerb, mayGoOn } = rightsOf(() => admitted, running)
    const lasting = deps.paths.isLongRunning(info)
      ? followAccess(request, mayGoOn, deps)
      : undefined
    const admitted: AuthorizedRequest = {
      request: passedOn(exchange),
      info,
      auditId,
      user: caller.user,
      authorizer: running.authorizer,
      warn: (text: string) => void warnings.add(text),
      ...(exchange.entry ? { annotate: exchange.entry.annotate } : {}),
      ...(exchange.trace ? { trace: exchange.trace.span } : {}),
      requireVerb,
      mayGoOn,
      signal: lasting?.signal ?? request.signal,
    }
    await authorize(admitted, running)
    exchange.isAdmitted = true
    exchange.trace?.authorized()
    const served = await serveBounded(admitted, running)
    answer = { ...served, reader: readerOf(served.body, caller.user) }
  } catch (error) {
    if (isPanic(error, request.signal)) exchange.entry?.panicked(causeOf(error))
    answer = await refusal(error, exchange, deps)
  }
  answer = exchange.entry?.answered(answer, deps.paths.isLongRunning(info)) ?? answer
  const { gzips } = running.inFlight
  answer = await framed(answer, { auditId, warnings, request, limits: deps.limits, gzips })
  answer = exchange.trace?.answered(answer) ?? answer
  const durationMs = record(exchange, answer.status, deps)
  deps.records.metrics.observe(info, { status: answer.status, durationMs })
  return answer
}

/** Proxies and logs write at the reader's pace; other answers wait in this process. */
function readerOf(body: AnswerBody, { name: user }: UserInfo): ReaderOf {
  return { user, mayStay: !isPushed(body) && Symbol.asyncIterator in body }
}

/** One request from its start to its audit record. */
interface Exchange {
  readonly request: ApiRequest
  /** The reason why the request's meaning is unknown. It is thrown once the caller is known. */
  readonly refusal: unknown
  readonly info: RequestInfo
  readonly auditId: string
  readonly startedAtMs: number
  readonly startedMs: number
  caller: Caller | undefined
  /** True once the request has passed authentication, impersonation and authorization. */
  isAdmitted: boolean
  /** Set if the audit policy records the request. */
  entry: AuditEntry | undefined
  /** Set once the caller is known. */
  trace: RequestTrace | undefined
}

function passedOn({ request, entry, trace }: Exchange): ApiRequest {
  const noted = entry?.request ?? request
  return trace?.passedOn(noted) ?? noted
}

function begin(received: ApiRequest, isUpgrade: boolean, deps: PipelineDeps): Exchange {
  const { clock, random } = deps
  let request = received
  let info: RequestInfo | undefined
  let refusal: unknown
  try {
    requireFewParameters(received.target)
    const target = deps.paths.retarget?.(received) ?? received.target
    if (target !== received.target) request = { ...received, target }
    info = parseRequestInfo(request.method, target)
    if (!isOfPages(info) && deps.paths.servesPages?.(info) !== true)
      requireOwnOrigin(request, isUpgrade)
    if (deps.paths.isLongRunning(info)) requireFreeStream(request, deps.limits)
  } catch (error) {
    refusal = error
    request = { ...request, target: withoutManyParameters(request.target) }
  }
  return {
    request,
    refusal,
    info: info ?? parseRequestInfo(request.method, request.target),
    auditId: auditIdOf(request.headers, random),
    startedAtMs: clock.now(),
    startedMs: clock.monotonicMs(),
    caller: undefined,
    isAdmitted: false,
    entry: undefined,
    trace: undefined,
  }
}

async function identified(exchange: Exchange, deps: PipelineDeps): Promise<Caller> {
  try {
    // A refused impersonation must be recorded for its caller, too.
    const onAsker = (user: UserInfo): void =>
      void (exchange.caller = { user, impersonator: undefined })
    const own = () => ownAttributes(exchange, deps)
    exchange.caller = await identify(exchange.request, deps.access, onAsker, own)
    if (exchange.refusal !== undefined) throw exchange.refusal
    return exchange.caller
  } finally {
    const { caller } = exchange
    const { records, clock } = deps
    const { tracing, trail } = records
    const asker = caller?.impersonator ?? caller?.user
    if (tracing) exchange.trace = openRequestTrace(exchange, asker, tracing, clock)
    exchange.entry = trail?.open({
      ...exchange,
      user: caller?.impersonator ?? caller?.user,
      impersonated: caller?.impersonator && caller.user,
    })
  }
}

async function authorize(admitted: AuthorizedRequest, running: Running): Promise<void> {
  const asked = attributesOf(admitted, running.deps)
  const { verdict, reason, error } = await running.authorizer.authorize(asked)
  const isAllowed = verdict === 'allow'
  if (!isAllowed && error) {
    admitted.annotate?.('authorization.k8s.io/reason', 'internal error')
    // The authorizers could not decide, which is not a refusal.
    throw new StatusError(
      'InternalError',
      `Internal Server Error: ${JSON.stringify(admitted.request.target)}: ${error.message}`,
    )
  }
  admitted.annotate?.('authorization.k8s.io/decision', isAllowed ? 'allow' : 'forbid')
  admitted.annotate?.('authorization.k8s.io/reason', reason)
  if (!isAllowed) throw forbidden(asked, reason)
}

/** Returns a signal that also aborts, with accessEnded, when the request may not go on. */
function followAccess(
  request: ApiRequest,
  mayGoOn: () => Promise<void>,
  { lasting }: PipelineDeps,
): Pick<LinkedSignal, 'signal' | 'abort'> | undefined {
  if (!lasting || request.peer.type === 'process') return undefined
  const { signal, abort } = request
  // A second signal for each request would be a twentieth of the cost of a small one.
  const linked = abort ? { signal, abort } : linkedSignal(signal)
  // The query is left out, because it may contain what a person types into a session.
  const [path = ''] = request.target.split('?', 1)
  const held = lasting.add({ path, mayGoOn, end: () => linked.abort(accessEnded) })
  // The client may have left while it was authenticated.
  whenAborted(linked.signal, () => held[Symbol.dispose]())
  return linked
}

function rightsOf(admittedOf: () => AuthorizedRequest, running: Running): RequestRights {
  const own = (): Attributes => attributesOf(admittedOf(), running.deps)
  const isStillIn = (): Promise<void> => requireStillAllowed(admittedOf(), running)
  return createRequestRights(own, running.authorizer, isStillIn)
}

/** Authenticates and authorizes the request again. Throws the error with which it would be refused now. */
async function requireStillAllowed(admitted: AuthorizedRequest, running: Running): Promise<void> {
  const { request, user } = admitted
  const { deps } = running
  try {
    const own = () => ownAttributes(admitted, deps)
    const again = { ...request, isRepeat: true }
    const now = await identify(again, deps.access, () => undefined, own)
    if (!isSameUser(now.user, user)) throw unauthorized()
  } catch (error) {
    if (!haveRunOut(request, deps.clock.now())) throw error
  }
  await requireRight(attributesOf(admitted, deps), running.authorizer)
}

function isSameUser(one: UserInfo, other: UserInfo): boolean {
  // The requests of one certificate share their user, and tens of thousands of them are checked each time.
  if (one === other) return true
  const keyOf = ({ name, uid, groups }: UserInfo): string =>
    JSON.stringify([name, uid, groups.toSorted()])
  return keyOf(one) === keyOf(other)
}

/** An error for users without rights repeats what they sent. */
const noSniffing = Object.freeze({ 'x-content-type-options': 'nosniff' })

function isPanic(error: unknown, signal: AbortSignal): boolean {
  return !signal.aborted && isMistake(causeOf(error))
}

function causeOf(error: unknown): unknown {
  return error instanceof FlowRejection ? error.cause : error
}

async function refusal(error: unknown, exchange: Exchange, deps: PipelineDeps): Promise<ApiAnswer> {
  const { request, isAdmitted } = exchange
  if (!(error instanceof FlowRejection)) {
    const answer = await errorAnswer(reported(error, exchange, deps), request)
    const isRefused = !isAdmitted && answer.status !== 401
    return isRefused ? { ...answer, headers: { ...answer.headers, ...noSniffing } } : answer
  }
  const answer = await errorAnswer(reported(error.cause, exchange, deps), request)
  return { ...answer, headers: { ...answer.headers, ...error.headers } }
}

function record(exchange: Exchange, status: number, { clock, records }: PipelineDeps): number {
  const { request, info, auditId, startedAtMs, startedMs, caller } = exchange
  const durationMs = clock.monotonicMs() - startedMs
  records.audit({
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
  received: ApiRequest,
  client: ClientConnection,
  running: Running,
): Promise<void> {
  const { deps } = running
  const exchange = begin(received, true, deps)
  const { request, info, auditId } = exchange
  try {
    const { user } = await identified(exchange, deps)
    const annotate = exchange.entry?.annotate ?? (() => undefined)
    const { authorizer } = running
    const rights = rightsOf(() => admitted, running)
    const lasting = followAccess(request, rights.mayGoOn, deps)
    const signal = lasting?.signal ?? request.signal
    const common = { request: passedOn(exchange), info, auditId, user, authorizer, signal }
    const admitted: AuthorizedRequest = { ...common, ...rights, warn: () => undefined, annotate }
    await authorize(admitted, running)
    lasting?.signal.addEventListener('abort', () => client.socket.destroy(), { once: true })
    exchange.trace?.authorized()
    let status = switchedStatus
    await deps.upgrade(admitted, {
      ...client,
      onRefused: (code) => (status = code),
      writeBody: (body, out) => client.writeBody(body, out, readerOf(body, user)),
    })
    exchange.entry?.switched(status)
    exchange.trace?.ended(status)
    record(exchange, status, deps)
  } catch (error) {
    const answer = statusAnswer(reported(error, exchange, deps))
    exchange.entry?.answered(answer, false)
    exchange.trace?.ended(answer.status)
    record(exchange, answer.status, deps)
    if (client.socket.destroyed) return
    const body = isWhole(answer.body) ? answer.body : noBody
    const length = String(body.length)
    const framing = { 'audit-id': auditId, 'content-length': length, connection: 'close' }
    const { status, headers } = answerHead(answer, deps.log)
    client.socket.write(http1Head(status, { ...headers, ...framing }))
    client.socket.end(body)
  }
}

/** Returns the error as the client may see it; the log has the details. */
function reported(
  error: unknown,
  { info, auditId, request: { signal } }: Exchange,
  { log }: PipelineDeps,
): StatusError {
  const statusError = toStatusError(error)
  if (statusError.reason === 'InternalError') {
    const cause = asError(error)
    // Work that fails because its client has gone is nobody's fault.
    if (signal.aborted && !isMistake(cause)) {
      log.debug('Request ended without its client', { auditId, path: info.path, error: cause })
      return statusError
    }
    log.error('Request failed', { auditId, method: info.method, path: info.path, error: cause })
    log.debug('Request failed at', { auditId, stack: cause.stack ?? '' })
  }
  return statusError
}

async function serveBounded(
  admitted: AuthorizedRequest,
  { deps, inFlight }: Running,
): Promise<ApiAnswer> {
  const { info, user } = admitted
  if (deps.flowControl) return serveInTurn(admitted, deps, deps.flowControl)
  if (deps.paths.isLongRunning(info)) return deps.serve(admitted)
  const isWrite = info.method !== 'GET' && info.method !== 'HEAD'
  const side = isWrite ? 'writes' : 'reads'
  const max = isWrite ? deps.limits.writesInFlightMax : deps.limits.readsInFlightMax
  // An administrator who repairs an overloaded server must get in.
  if (inFlight[side] >= max && !user.groups.includes('system:masters')) throw tooManyRequests()
  inFlight[side] += 1
  try {
    return await serveInTime(admitted, deps)
  } finally {
    inFlight[side] -= 1
  }
}

/** A watch occupies its seat until it has begun; other long-running requests take none, as upstream. */
async function serveInTurn(
  admitted: AuthorizedRequest,
  deps: PipelineDeps,
  flowControl: FlowControl,
): Promise<ApiAnswer> {
  const isLasting = deps.paths.isLongRunning(admitted.info)
  if (isLasting && admitted.info.verb !== 'watch') return deps.serve(admitted)
  const { headers, leave } = await flowControl.enter(admitted, admitted.signal)
  try {
    const answer = await (isLasting ? deps.serve(admitted) : serveInTime(admitted, deps))
    return { ...answer, headers: { ...answer.headers, ...headers } }
  } catch (error) {
    throw new FlowRejection(headers, error)
  } finally {
    leave()
  }
}

async function serveInTime(admitted: AuthorizedRequest, deps: PipelineDeps): Promise<ApiAnswer> {
  using scope = linkedSignal(admitted.signal)
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  scope.signal.addEventListener('abort', () => reject(scope.signal.reason), { once: true })
  // The race below may be over when this rejects.
  stopped.catch(() => undefined)
  using _timer = deps.clock.setTimer(deps.limits.requestTimeoutMs, () =>
    scope.abort(requestTimeout()),
  )
  const { user, request } = admitted
  // An administrator who repairs an overloaded server must get in, and this process's own
  // controllers too.
  const isBounded = !user.groups.includes('system:masters')
  const owner = { user: user.name, isBounded }
  using held = request.peer.type === 'socket' ? deps.bodies.open(owner, scope.signal) : undefined
  const served = {
    ...admitted,
    signal: scope.signal,
    ...(held && { request: { ...request, held } }),
  }
  return await Promise.race([deps.serve(served), stopped])
}

interface Frame {
  auditId: string
  warnings: ReadonlySet<string>
  request: ApiRequest
  limits: ApiServerLimits
  gzips: GzipStreams
}

/** Adds the headers that every answer has, compresses, and drops the body for HEAD. */
async function framed(answer: ApiAnswer, frame: Frame): Promise<ApiAnswer> {
  const { auditId, warnings, request, limits, gzips } = frame
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
      : await compressed({ ...answer, headers }, request.headers['accept-encoding'], {
          bytesMin: limits.gzipBytesMin,
          streams: gzips,
        })
  const isHead = request.method === 'HEAD'
  if (!isWhole(full.body)) return isHead ? { ...full, body: noBody } : full
  const withLength = { ...full.headers, 'content-length': String(full.body.length) }
  return { ...full, headers: withLength, body: isHead ? noBody : full.body }
}

function attributesOf(admitted: AuthorizedRequest, deps: PipelineDeps): Attributes {
  return { ...ownAttributes(admitted, deps), user: admitted.user }
}

function ownAttributes(
  { info, request }: Pick<AuthorizedRequest, 'info' | 'request'>,
  deps: PipelineDeps,
): RequestAttributes {
  return deps.paths.attributes?.(info, request.target) ?? requestAttributes(info)
}
