import { isJsonObject } from '@skerry/api'
import { readClientCertificate } from '@skerry/pki'
import type { ApiRequest } from '../contract/exchange.ts'
import { bearerTokenOf } from './bearer-token.ts'

/**
 * Whether the credentials of a request were for a time that is over. Short ones are renewed by whoever has
 * them, and the person stays the same: what they opened goes on, unless their rights end.
 */
export function haveRunOut({ peer, headers }: ApiRequest, nowMs: number): boolean {
  if (peer.type === 'process') return false
  const [leaf] = peer.certificates
  if (leaf && readClientCertificate(leaf).notAfterMs < nowMs) return true
  const token = bearerTokenOf({ headers, clientCertificates: [] })
  const expiry = token === undefined ? undefined : expiryOf(token)
  return expiry !== undefined && expiry * 1_000 <= nowMs
}

/** The `exp` of a JWT (RFC 7519, 4.1.4), in seconds. It was verified when the request came. */
function expiryOf(token: string): number | undefined {
  const [, payload = '', signature] = token.split('.', 3)
  if (signature === undefined) return undefined
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'))
    const expiry = isJsonObject(claims) ? claims['exp'] : undefined
    return typeof expiry === 'number' ? expiry : undefined
  } catch {
    // Another sort of token.
    return undefined
  }
}
