import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
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
    const raw = await toProxy(own, scope.signal)
    using _timer = clock.setTimer(answerMs, () => scope.abort(late))
    const way = url.protocol === 'https:' ? await securedTo(own, raw, proxy, scope.signal) : raw
    try {
      const login = await proxy.login?.(scope.signal)
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

function askToConnect(
  { way, own, to, login, headers: given = {} }: Asking,
  signal: AbortSignal,
): Promise<Duplex> {
  const path = hostAndPort(to)
  const further = Object.entries(given).map(([name, values]) => [name, [...values]] as const)
  const headers: OutgoingHttpHeaders = { ...Object.fromEntries(further), host: path }
  if (login) headers['proxy-authorization'] = basic(login)
  const request = httpRequest({ method: 'CONNECT', path, headers, createConnection: () => way })
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      request.destroy()
      reject(abortReason(signal))
    }
    signal.addEventListener('abort', onAbort, { once: true })
    request.once('close', () => signal.removeEventListener('abort', onAbort))
    request.on('error', (cause) => {
      reject(new ConnectError(`${failure(own)}: ${cause.message}`, { cause }))
    })
    // This event follows any answer to CONNECT; 'response' is never emitted for CONNECT.
    request.once('connect', (answer: IncomingMessage, _socket, head: Buffer) => {
      signal.removeEventListener('abort', onAbort)
      const status = answer.statusCode ?? 0
      if (status < 200 || status >= 300) return reject(refusal(answer, { own, to, login }))
      if (head.length > 0) way.unshift(head)
      resolve(way)
    })
    request.end()
  })
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
