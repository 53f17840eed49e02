import { connect as connectTcp, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls, createSecureContext, type ConnectionOptions } from 'node:tls'
import { abortReason, type Clock } from '@skerry/base'
import {
  openByWay,
  tlsOptions,
  type ClientCredentials,
  type HttpsTransportConfig,
  type ServerWay,
} from '@skerry/client'
import { clusterAgentBounds } from '../limits-table.ts'

export interface ApiServerPlace {
  readonly api: HttpsTransportConfig
  readonly base: URL
  readonly limits: { readonly connectMs: number }
  readonly clock: Clock
  /** Aborts when no more connections are needed. */
  readonly signal: AbortSignal
}

/** Opens connections to the API server for requests that follow each other. Certificates are parsed once for all. */
export function openKept(
  place: ApiServerPlace,
  credentials: ClientCredentials,
): (signal: AbortSignal) => Promise<Duplex> {
  const way = wayOf(place, credentials)
  const either = (signal: AbortSignal) => AbortSignal.any([signal, place.signal])
  if (way) return (signal) => openByWay(way, either(signal))
  const { host, port, isPlain } = addressOf(place.base)
  if (isPlain) return (signal) => connected(connectTcp({ host, port }), place, either(signal))
  const { ca, cert, key, ...own } = tlsOptions(place.api, credentials)
  const secureContext = createSecureContext({
    ...(ca ? { ca } : {}),
    ...(cert ? { cert } : {}),
    ...(key ? { key } : {}),
  })
  const options: ConnectionOptions = { host, port, ...serverNameOf(host), ...own, secureContext }
  // The TLS session of an earlier connection, which saves both ends work in the next handshake.
  let session: Buffer | undefined
  return async (signal) => {
    const resumed = session ? { session } : {}
    const socket = connectTls({ ...options, ...resumed, ALPNProtocols: ['http/1.1'] })
    socket.on('session', (made) => (session = made))
    try {
      return await connected(socket, place, either(signal))
    } catch (error) {
      session = undefined
      throw error
    }
  }
}

/** Opens a separate connection for one session, in which each side may end its half first. */
export function openOwn(
  place: ApiServerPlace,
  credentials: ClientCredentials,
  signal: AbortSignal,
): Promise<Duplex> {
  const either = AbortSignal.any([signal, place.signal])
  const way = wayOf(place, credentials)
  return way ? openByWay(way, either) : connected(ownSocket(place, credentials), place, either)
}

function ownSocket({ base, api }: ApiServerPlace, credentials: ClientCredentials): Socket {
  const { host, port, isPlain } = addressOf(base)
  const tcp = connectTcp({ host, port, allowHalfOpen: true })
  if (isPlain) return tcp
  const secured = connectTls({
    socket: tcp,
    host,
    ...serverNameOf(host),
    ...tlsOptions(api, credentials),
    ALPNProtocols: ['http/1.1'],
  })
  // An error of the inner socket must reach the user of the outer one.
  tcp.on('error', (error) => secured.destroy(error))
  return secured
}

function wayOf(
  { api, base, clock }: ApiServerPlace,
  { certificate: cert, key }: ClientCredentials,
): ServerWay | undefined {
  const { connect, certificateAuthority: ca, serverName, isTlsVerifySkipped } = api
  if (!connect) return undefined
  const tls = {
    ...(ca ? { ca } : {}),
    ...(serverName ? { serverName } : {}),
    ...(isTlsVerifySkipped ? { isUnchecked: true } : {}),
    ...(cert ? { cert } : {}),
    ...(key ? { key } : {}),
  }
  return { connect, base, tls, clock }
}

function addressOf(base: URL): { host: string; port: number; isPlain: boolean } {
  const isPlain = base.protocol === 'http:'
  const host = base.hostname.replace(/^\[|\]$/g, '')
  return { host, port: Number(base.port) || (isPlain ? 80 : 443), isPlain }
}

/** An address is none (RFC 6066, 3). */
function serverNameOf(host: string): { servername?: string } {
  return /^[\d.]+$|:/.test(host) ? {} : { servername: host }
}

function connected(
  socket: Socket,
  { limits: { connectMs }, base, clock }: ApiServerPlace,
  signal: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const late = (): void => void socket.destroy(new Error(`no connection in ${connectMs} ms`))
    const onAbort = (): void => void socket.destroy(abortReason(signal))
    const timer = clock.setTimer(connectMs, late)
    const settle = (): void => {
      timer[Symbol.dispose]()
      signal.removeEventListener('abort', onAbort)
    }
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    socket.once(base.protocol === 'http:' ? 'connect' : 'secureConnect', () => {
      settle()
      socket.setNoDelay(true)
      socket.setKeepAlive(true, keepAliveProbeMs)
      socket.off('error', reject)
      resolve(socket)
    })
    socket.once('error', reject)
    socket.once('close', () => {
      settle()
      reject(new Error('the connection was closed'))
    })
  })
}

const { keepAliveProbeMs } = clusterAgentBounds.apiConnection
