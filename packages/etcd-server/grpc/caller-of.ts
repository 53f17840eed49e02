import type { IncomingHttpHeaders } from 'node:http'
import { TLSSocket } from 'node:tls'
import { AuthorityFilter } from './authority-filter.ts'
import type { Caller } from './grpc-call.ts'

/**
 * Reads the token, which gRPC's clients send as `token` and those of the gateway as `authorization`. The certificate is
 * read only if somebody asks for it, because that takes longer than most calls.
 */
export function callerOf(headers: IncomingHttpHeaders, socketOfCall?: () => unknown): Caller {
  const token = headers['token'] ?? headers.authorization
  const text = Array.isArray(token) ? token[0] : token
  return {
    token: text?.replace(/^Bearer /, ''),
    get commonName() {
      return commonNameOf(socketOfCall?.())
    },
  }
}

/** Returns the common name of a certificate that an authority of the server signed. */
function commonNameOf(of: unknown): string | undefined {
  const socket = socketOf(of)
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined
  const name: unknown = socket.getPeerCertificate().subject?.CN
  return typeof name === 'string' && name !== '' ? name : undefined
}

/** Node wraps a stream that is not a socket. */
function socketOf(of: unknown): unknown {
  if (of instanceof TLSSocket || typeof of !== 'object' || of === null) return of
  return 'stream' in of && of.stream instanceof AuthorityFilter ? of.stream.socket : of
}
