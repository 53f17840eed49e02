import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Duplex } from 'node:stream'
import { abortReason, linkedSignal } from '../abort.ts'
import type { Clock } from '../clock.ts'
import {
  ConnectError,
  destinationOf,
  hostAndPort,
  type Connect,
  type Destination,
} from './connect.ts'
import { messageOf } from '../message-of.ts'
import { requestOver } from '../http/request-over.ts'
import { secureConnection } from './secure-connection.ts'

export interface HttpProxy {
  /** The proxy's URL, http:// or https://, without user and password. */
  readonly url: string
  /**
   * Called before each connection, so that a new password takes effect. Omitted if the proxy needs
   * no login.
   */
  readonly login?: (signal: AbortSignal) => Promise<ProxyLogin>
  /** PEM of the authority of an https:// proxy. If omitted, the system's. */
  readonly ca?: string
  /** Sent with each CONNECT. Names are in lower case. */
  readonly headers?: Readonly<Record<string, readonly string[]>>
}

export interface ProxyLogin {
  readonly user: string
  readonly password: string
}

export interface ProxyOptions {
  /** The time for the proxy to answer, including its connection onwards. */
  readonly answerMs: number
  readonly clock: Clock
}

/** Sends an HTTP proxy a CONNECT (RFC 9110, section 9.3.6), with Basic authentication if there is a login. */
export function connectByProxy(
  proxy: HttpProxy,
  toProxy: Connect,
  { answerMs, clock }: ProxyOptions,
): Connect {
  const url = new URL(proxy.url)
  const own = destinationOf(url)
  return async (to, signal) => {
    using scope = linkedSignal(signal)
    const late = new ConnectError(`${failure(own)}: it did not answer in ${answerMs} ms`)
    // Asked first: nobody listens to a connection that waits for a file, and its error would end the process.
    const login = await proxy.login?.(scope.signal)
    const raw = await toProxy(own, scope.signal)
    using _timer = clock.setTimer(answerMs, () => scope.abort(late))
    const way = url.protocol === 'https:' ? await securedTo(own, raw, proxy, scope.signal) : raw
    try {
      return await askToConnect({ way, own, to, login, headers: proxy.headers }, scope.signal)
    } catch (error) {
      way.destroy()
      throw error
    }
  }
}

function failure(own: Destination): string {
  return `Cannot pass proxy ${own.host} port ${own.port}`
}

async function securedTo(
  own: Destination,
  raw: Duplex,
  { ca }: HttpProxy,
  signal: AbortSignal,
): Promise<Duplex> {
  try {
    return await secureConnection(raw, { host: own.host, ...(ca ? { ca } : {}) }, signal)
  } catch (cause) {
    if (!(cause instanceof ConnectError) || signal.aborted) throw cause
    throw new ConnectError(`${failure(own)}: ${cause.message}`, { cause })
  }
}

interface Asking {
  way: Duplex
  own: Destination
  to: Destination
  login: ProxyLogin | undefined
  headers: HttpProxy['headers']
}

type Refused = Pick<Asking, 'own' | 'to' | 'login'>

async function askToConnect(
  { way, own, to, login, headers: given = {} }: Asking,
  signal: AbortSignal,
): Promise<Duplex> {
  const path = hostAndPort(to)
  const further = Object.entries(given).map(([name, values]) => [name, [...values]] as const)
  const headers: OutgoingHttpHeaders = { ...Object.fromEntries(further), host: path }
  if (login) headers['proxy-authorization'] = basic(login)
  const asked = { method: 'CONNECT', path, headers, isConnect: true }
  const { response } = await requestOver(way, asked, signal).catch((cause: unknown) => {
    if (signal.aborted) throw abortReason(signal)
    throw new ConnectError(`${failure(own)}: ${messageOf(cause)}`, { cause })
  })
  const status = response.statusCode ?? 0
  if (status < 200 || status >= 300) throw refusal(response, { own, to, login })
  return way
}

function basic({ user, password }: ProxyLogin): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}

function refusal(answer: IncomingMessage, asked: Refused): ConnectError {
  const { own, to } = asked
  const status = answer.statusCode ?? 0
  const text = `${failure(own)}: it answered ${status}: ${meaning(status, answer, asked)}`
  // These concern the way behind the proxy, which may work again in a second.
  const isPassing = status === 502 || status === 503 || status === 504
  return new ConnectError(text.replaceAll('{to}', hostAndPort(to)), isPassing ? {} : { status })
}

function meaning(status: number, answer: IncomingMessage, { login }: Refused): string {
  if (status === 407) return loginFault(answer, login)
  if (status === 403 || status === 405) {
    return 'it does not allow CONNECT to {to}; its operator must allow this'
  }
  if (status === 502 || status === 503 || status === 504) return 'it cannot reach {to} itself'
  return 'it will not CONNECT to {to}'
}

function loginFault(answer: IncomingMessage, login: ProxyLogin | undefined): string {
  // Several of these headers are joined with commas.
  const offered = answer.headers['proxy-authenticate'] ?? ''
  const schemes = ['Basic', 'Digest', 'NTLM', 'Negotiate'].filter((scheme) =>
    new RegExp(`(^|,)\\s*${scheme}\\b`, 'i').test(offered),
  )
  if (schemes.length > 0 && !schemes.includes('Basic')) {
    return `it takes ${schemes.join(' or ')} only, and this program knows Basic; ask its operator for Basic or for an exception`
  }
  return login
    ? 'it does not take this user and password'
    : 'it wants a user and a password; give them by --proxy-credentials-file'
}
