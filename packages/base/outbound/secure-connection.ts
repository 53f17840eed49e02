import type { Duplex } from 'node:stream'
import { isIP } from 'node:net'
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { abortReason } from '../abort.ts'
import { ConnectError } from './connect.ts'

/**
 * Offered by ALPN (RFC 7301) beside the protocol that is spoken: others may be greeted first. Agents say it, which all
 * come back at once after their hub was away, while a user waits.
 */
export const patientProtocol = 'skerry-patient'

export interface SecureOptions {
  /** Expected in the certificate, and sent as SNI when it is a name. */
  readonly host: string
  /** PEM. Only these are trusted when set; the system's otherwise. */
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  /** True: whoever answers is taken. Only for what carries a connection that is checked itself. */
  readonly isUnchecked?: boolean
  /** True: says so to a server that knows; see patientProtocol. */
  readonly isPatient?: boolean
}

/** TLS over an open connection, for HTTP/1.1. Destroys it when it fails. */
export function secureConnection(
  raw: Duplex,
  { host, isUnchecked, isPatient, ...pems }: SecureOptions,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const ALPNProtocols = isPatient === true ? [patientProtocol, 'http/1.1'] : ['http/1.1']
  const options: ConnectionOptions = { ...pems, socket: raw, ALPNProtocols, host }
  // SNI carries names only (RFC 6066, 3).
  if (isIP(host) === 0) options.servername = host
  if (isUnchecked === true) options.rejectUnauthorized = false
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>()
  const socket = connectTls(options)
  let issuer: string | undefined
  // Before the chain is judged: with a refused one the certificate is gone.
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
