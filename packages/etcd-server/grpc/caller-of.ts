import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Caller } from './grpc-call.ts'

/**
 * Reads the token, which gRPC's clients send as `token` and those of the gateway as `authorization`. The certificate is
 * read only if somebody asks for it, because that takes longer than most calls.
 */
export function callerOf(headers: IncomingHttpHeaders, socket?: Socket): Caller {
  const token = headers['token'] ?? headers.authorization
  const text = Array.isArray(token) ? token[0] : token
  return {
    token: text?.replace(/^Bearer /, ''),
    get commonName() {
      return commonNameOf(socket)
    },
  }
}

/** Returns the common name of a certificate that an authority of the server signed. */
function commonNameOf(socket: Socket | undefined): string | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined
  const name: unknown = socket.getPeerCertificate().subject?.CN
  return typeof name === 'string' && name !== '' ? name : undefined
}
