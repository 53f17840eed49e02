import type { Duplex } from 'node:stream'
import { isIP } from 'node:net'
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { abortReason } from '../abort.ts'
import { ConnectError } from './connect.ts'

/**
 * Offered by ALPN (RFC 7301) in addition to the spoken protocol, to let others be served first.
 * Agents offer it, because they all reconnect at once after their hub was away, while a user waits.
 */
export const patientProtocol = 'skerry-patient'

export interface SecureOptions {
  /** The expected host in the certificate, also sent as SNI if it is a name. */
  readonly host: string
  /** PEM of the only trusted authorities. If omitted, the system's. */
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  /**
   * If true, any certificate is accepted. Only for a connection that carries another one with its
   * own check.
   */
  readonly isUnchecked?: boolean
  /** If true, offers patientProtocol to the server. */
  readonly isPatient?: boolean
}

/** Opens TLS over an existing connection, for HTTP/1.1. Destroys it on failure. */
export function secureConnection(
  raw: Duplex,
  { host, isUnchecked, isPatient, ...pems }: SecureOptions,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const ALPNProtocols = isPatient === true ? [patientProtocol, 'http/1.1'] : ['http/1.1']
  const options: ConnectionOptions = { ...pems, socket: raw, ALPNProtocols, host }
  // SNI carries only names (RFC 6066, section 3).
  if (isIP(host) === 0) options.servername = host
  if (isUnchecked === true) options.rejectUnauthorized = false
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>()
  const socket = connectTls(options)
  let issuer: string | undefined
  // Runs before the chain is verified, because a refused certificate is not accessible afterwards.
  socket.prependOnceListener('secure', () => {
    issuer = socket.getPeerX509Certificate()?.issuer.split('\n').at(-1)
  })
  const onAbort = (): void => void socket.destroy(abortReason(signal))
  const onError = (cause: Error): void => {
    signal.removeEventListener('abort', onAbort)
    raw.destroy()
    if (signal.aborted) return reject(abortReason(signal))
    const from = issuer === undefined ? '' : `; its certificate was issued by ${issuer}`
    const text = `Cannot trust ${host} or be trusted by it: ${cause.message}${from}`
    reject(new ConnectError(text, { cause }))
  }
  const onCut = (): void => onError(new Error('the connection was closed in the TLS handshake'))
  socket.once('error', onError)
  socket.once('close', onCut)
  socket.once('secureConnect', () => {
    signal.removeEventListener('abort', onAbort)
    socket.off('error', onError)
    socket.off('close', onCut)
    resolve(socket)
  })
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  return promise
}
