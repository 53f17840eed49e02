import { StatusError, isStatusError, type JsonObject } from '@skerry/api'
import type {
  ApiAnswer,
  ApiRequest,
  AuthorizedRequest,
  Authorizer,
  LoadedServer,
  Route,
  UserInfo,
} from '@skerry/apiserver'
import { ExpectedError, type Clock, type Logger } from '@skerry/base'
import { consoleBounds } from '../limits-table.ts'
import { readJsonBody } from '../request/json-body.ts'
import { jsonAnswer } from '../request/json-answer.ts'
import { sourceOf, type IssuerLogin } from './issuer-login.ts'
import type { LoginAttempts } from './login-attempts.ts'
import { credentialsOf, sessionIdOf } from './session-authenticator.ts'
import {
  clearLogin,
  clearSession,
  cookieValue,
  loginCookie,
  sessionCookie,
  setLogin,
  setSession,
} from './session-cookie.ts'
import type { SessionSource } from './session-record.ts'
import type { BegunSession, SessionStore } from './session-store.ts'

const sessionPath = '/hub/v1/session'
const codesPath = `${sessionPath}/codes`
const callbackPath = `${sessionPath}/callback`

export interface SessionRoutesDeps {
  readonly sessions: SessionStore
  readonly issuerLogin: IssuerLogin
  readonly attempts: LoginAttempts
  readonly authenticate: LoadedServer['authenticate']
  readonly hub: { readonly name: string; readonly version: string }
  readonly clock: Pick<Clock, 'now'>
  readonly log: Logger
}

/** The answer to GET of the path, and to the login. */
interface SessionAnswer {
  readonly user: string
  readonly groups: readonly string[]
  /** RFC 3339. The session may end earlier, when it is idle. */
  readonly expiresAt: string
  /** Milliseconds since the Unix epoch. */
  readonly serverTime: number
  readonly hub: SessionRoutesDeps['hub']
}

/** The ways in which a browser without a session may get one. */
interface SessionOffers {
  readonly token: true
  /** True if the connection has a certificate that names a user. */
  readonly certificate: boolean
  readonly issuer: { readonly name: string; readonly loginURL: string } | null
}

/** The answer to POST of …/codes. */
interface LoginCode {
  readonly code: string
  /** RFC 3339. */
  readonly expiresAt: string
}

type Handler = (admitted: AuthorizedRequest, deps: SessionRoutesDeps) => Promise<ApiAnswer>

const handlers: Readonly<Record<string, Handler>> = Object.freeze({
  [`GET ${sessionPath}`]: readSession,
  [`POST ${sessionPath}`]: beginSession,
  [`DELETE ${sessionPath}`]: endSession,
  [`GET ${sessionPath}/offers`]: offers,
  [`POST ${codesPath}`]: createCode,
  [`GET ${sessionPath}/login`]: leaveForIssuer,
  [`GET ${callbackPath}`]: comeBack,
})

/** Begins, shows and ends sessions of browsers. */
export function sessionRoute(deps: SessionRoutesDeps): Route {
  return {
    prefix: sessionPath,
    matches: ({ path }) => isSessionPath(path),
    async serve(admitted) {
      const { method, path } = admitted.info
      const handler = handlers[`${method} ${path}`]
      if (handler) return withoutStore(await handler(admitted, deps))
      const isKnown = Object.keys(handlers).some((key) => key.endsWith(` ${path}`))
      if (!isKnown) throw new StatusError('NotFound', `the server has no ${path}`)
      throw new StatusError('MethodNotAllowed', 'the server does not allow this method here')
    },
  }
}

export function isSessionPath(path: string): boolean {
  return path === sessionPath || path.startsWith(`${sessionPath}/`)
}

/** Allows everybody to log in and out, and every authenticated user to make a code for themself. */
export const sessionAuthorizer: Authorizer = Object.freeze<Authorizer>({
  async authorize({ user, isResourceRequest, path, verb }) {
    const isAsked = !isResourceRequest && handlers[`${verb.toUpperCase()} ${path}`] !== undefined
    const isMine = path !== codesPath || user.groups.includes('system:authenticated')
    return { verdict: isAsked && isMine ? 'allow' : 'no-opinion', reason: '' }
  },
})

async function readSession(
  { user, request }: AuthorizedRequest,
  deps: SessionRoutesDeps,
): Promise<ApiAnswer> {
  const secret = cookieValue(request.headers, sessionCookie) ?? ''
  const known = sessionIdOf(user) === undefined ? undefined : deps.sessions.find(secret)
  if (!known) throw new StatusError('Unauthorized', 'Unauthorized')
  return jsonAnswer(200, answerOf(user, known.record.expiresAtMs, deps))
}

async function beginSession(
  admitted: AuthorizedRequest,
  deps: SessionRoutesDeps,
): Promise<ApiAnswer> {
  const { request, user, signal } = admitted
  const address = addressOf(request)
  deps.attempts.requireRoom(address)
  try {
    const source = await sourceFor(
      await readJsonBody(request, { doing: 'log in', bytesMax: bodyBytesMax }),
      admitted,
      deps,
    )
    const named = await userOf(source, deps, signal)
    const former = sessionIdOf(user)
    const begun = await opened(source, { user: named, address }, deps)
    if (former !== undefined) await deps.sessions.end(former)
    return loggedIn(201, { user: named, begun }, deps)
  } catch (error) {
    if (isStatusError(error, 'Unauthorized')) deps.attempts.onFailed(address)
    throw error
  }
}

/** Returns the credential with which a session shall begin. Throws Unauthorized if it is void. */
async function sourceFor(
  { token, code, ...others }: JsonObject,
  admitted: AuthorizedRequest,
  deps: SessionRoutesDeps,
): Promise<SessionSource> {
  const [unknown] = Object.keys(others)
  const isText = [token, code].every((each) => each === undefined || typeof each === 'string')
  if (unknown !== undefined || !isText || (token !== undefined && code !== undefined)) {
    throw new StatusError('BadRequest', 'Cannot log in: expected {"token"}, {"code"} or {}')
  }
  if (typeof token === 'string') {
    if (/^[\x21-\x7e]{1,16384}$/.test(token)) return { token }
    throw new StatusError('Unauthorized', 'Unauthorized')
  }
  if (typeof code !== 'string') return await presentedSource(admitted, deps)
  const known = await deps.sessions.takeCode(code)
  if (known) return known.source
  throw new StatusError('Unauthorized', 'the code is unknown, expired or used already')
}

/**
 * Returns the certificate or token with which the request itself came. Throws Forbidden if its user came otherwise,
 * e.g. by a front proxy or as somebody else.
 */
async function presentedSource(
  { request, user, signal }: AuthorizedRequest,
  deps: SessionRoutesDeps,
): Promise<SessionSource> {
  if (user.name === 'system:anonymous') throw new StatusError('Unauthorized', 'Unauthorized')
  for (const source of sourcesOf(request)) {
    const found = await userOf(source, deps, signal).catch((error: unknown) => {
      if (isStatusError(error, 'Unauthorized')) return undefined
      throw error
    })
    if (found?.name === user.name && found.uid === user.uid) return source
  }
  const text = 'Cannot log in: the request has neither a certificate nor a token of its user'
  throw new StatusError('Forbidden', text)
}

function sourcesOf({ peer, headers }: ApiRequest): SessionSource[] {
  const [leaf] = peer.type === 'socket' ? peer.certificates : []
  const [scheme = '', token = ''] = (headers['authorization'] ?? '').trim().split(/ +/)
  return [
    ...(leaf ? [{ certificate: Buffer.from(leaf).toString('base64') }] : []),
    ...(scheme.toLowerCase() === 'bearer' && token !== '' ? [{ token }] : []),
  ]
}

async function userOf(
  source: SessionSource,
  { authenticate }: SessionRoutesDeps,
  signal: AbortSignal,
): Promise<UserInfo> {
  const found = await authenticate({ ...credentialsOf(source), path: sessionPath }, signal)
  if (found && found.user.name !== 'system:anonymous') return found.user
  throw new StatusError('Unauthorized', 'Unauthorized')
}

async function opened(
  source: SessionSource,
  { user, address }: { readonly user: UserInfo; readonly address: string },
  { sessions, log }: SessionRoutesDeps,
): Promise<BegunSession> {
  const begun = await sessions.begin(source, { name: user.name, uid: user.uid ?? '' }, address)
  log.info('Console session opened', { user: user.name, session: begun.record.id, address })
  return begun
}

function loggedIn(
  status: number,
  { user, begun }: { readonly user: UserInfo; readonly begun: BegunSession },
  deps: SessionRoutesDeps,
): ApiAnswer {
  const answer = jsonAnswer(status, answerOf(user, begun.record.expiresAtMs, deps))
  return { ...answer, headers: { ...answer.headers, 'set-cookie': setSession(begun.secret) } }
}

function answerOf(
  { name, groups }: UserInfo,
  expiresAtMs: number,
  { hub, clock }: SessionRoutesDeps,
): SessionAnswer {
  const expiresAt = new Date(expiresAtMs).toISOString()
  return { user: name, groups, expiresAt, serverTime: clock.now(), hub }
}

async function endSession(
  { user }: AuthorizedRequest,
  { sessions, log }: SessionRoutesDeps,
): Promise<ApiAnswer> {
  const id = sessionIdOf(user)
  if (id !== undefined) {
    await sessions.end(id)
    log.info('Console session ended', { user: user.name, session: id })
  }
  return { status: 204, headers: { 'set-cookie': clearSession() }, body: new Uint8Array(0) }
}

async function offers(
  { request: { peer }, user }: AuthorizedRequest,
  { issuerLogin }: SessionRoutesDeps,
): Promise<ApiAnswer> {
  const { name } = issuerLogin
  const hasCertificate = peer.type === 'socket' && peer.certificates.length > 0
  const loginURL = `${sessionPath}/login?return=${encodeURIComponent('/console/')}`
  return jsonAnswer(200, {
    token: true,
    certificate: hasCertificate && user.name !== 'system:anonymous',
    issuer: name === undefined ? null : { name, loginURL },
  } satisfies SessionOffers)
}

async function createCode(
  admitted: AuthorizedRequest,
  deps: SessionRoutesDeps,
): Promise<ApiAnswer> {
  const { user } = admitted
  if (sessionIdOf(user) !== undefined) {
    throw new StatusError('Forbidden', 'Cannot make a login code: a session may not make another')
  }
  const source = await presentedSource(admitted, deps)
  const named = { name: user.name, uid: user.uid ?? '' }
  const { secret: code, record } = await deps.sessions.createCode(source, named)
  deps.log.info('Console login code made', { user: user.name, code: record.id })
  const expiresAt = new Date(record.expiresAtMs).toISOString()
  return jsonAnswer(201, { code, expiresAt } satisfies LoginCode)
}

async function leaveForIssuer(
  { request, info, signal }: AuthorizedRequest,
  { issuerLogin, attempts, log }: SessionRoutesDeps,
): Promise<ApiAnswer> {
  const address = addressOf(request)
  attempts.requireRoom(address)
  if (issuerLogin.name === undefined) {
    throw new StatusError('NotFound', 'Cannot log in at an issuer: the hub names none')
  }
  const returnTo = pageOf(info.query.get('return') ?? '')
  const redirectUri = `https://${hostOf(request)}${callbackPath}`
  try {
    const { url, state } = await issuerLogin.begin({ redirectUri, returnTo }, signal)
    return { ...moved(url), headers: { location: url, 'set-cookie': setLogin(state) } }
  } catch (error) {
    return failed('issuer', { error, returnTo }, log)
  }
}

async function comeBack(
  { request, signal }: AuthorizedRequest,
  deps: SessionRoutesDeps,
): Promise<ApiAnswer> {
  const { issuerLogin, attempts, log } = deps
  const address = addressOf(request)
  attempts.requireRoom(address)
  const sealed = cookieValue(request.headers, loginCookie)
  const [, query = ''] = request.target.split('?', 2)
  const returnTo = sealed === undefined ? undefined : issuerLogin.returnOf(sealed)
  try {
    const done =
      sealed === undefined ? undefined : await issuerLogin.finish({ sealed, query }, signal)
    if (!done) {
      attempts.onFailed(address)
      return failed('expired', { returnTo }, log)
    }
    const source = sourceOf(done.tokens)
    const user = await userOf(source, deps, signal)
    const begun = await opened(source, { user, address }, deps)
    const cookies = [setSession(begun.secret), clearLogin()]
    return { ...moved(done.returnTo), headers: { location: done.returnTo, 'set-cookie': cookies } }
  } catch (error) {
    attempts.onFailed(address)
    const problem = isStatusError(error, 'Unauthorized') ? 'unknown' : 'issuer'
    return failed(problem, { error, returnTo }, log)
  }
}

interface FailedLogin {
  readonly error?: unknown
  /** The page that the login was to lead to. */
  readonly returnTo: string | undefined
}

/** Sends the person back to the login page, which has a sentence for each problem; the log has the details. */
function failed(
  problem: 'issuer' | 'expired' | 'unknown',
  { error, returnTo }: FailedLogin,
  log: Logger,
): ApiAnswer {
  const isExplained = error instanceof ExpectedError || error instanceof StatusError
  if (error !== undefined && !isExplained) throw error
  log.info('Console login at the issuer failed', { problem, ...(isExplained ? { error } : {}) })
  const query = new URLSearchParams({ problem })
  if (returnTo !== undefined) query.set('return', returnTo)
  const location = `/console/login?${query.toString()}`
  return { ...moved(location), headers: { location, 'set-cookie': clearLogin() } }
}

function moved(location: string): ApiAnswer {
  return { status: 302, headers: { location }, body: new Uint8Array(0) }
}

/** Returns a page of the console; anything else, which could lead elsewhere, becomes its first page. */
function pageOf(path: string): string {
  return /^\/console\/[\w\-.~!$&'()*+,;=:@%/?]{0,2000}$/.test(path) ? path : '/console/'
}

function hostOf({ headers }: ApiRequest): string {
  const { host = '' } = headers
  if (/^(?:[\w.-]{1,253}|\[[\da-fA-F:.]{2,45}\])(?::\d{1,5})?$/.test(host)) return host
  throw new StatusError('BadRequest', 'Cannot log in: the request names no host')
}

function addressOf({ peer }: ApiRequest): string {
  return peer.type === 'socket' ? peer.address : ''
}

const { bodyBytesMax } = consoleBounds.sessionRoutes

function withoutStore(answer: ApiAnswer): ApiAnswer {
  return { ...answer, headers: { 'cache-control': 'no-store', ...answer.headers } }
}
