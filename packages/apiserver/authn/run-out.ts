import { isJsonObject } from '@skerry/api'
import { readClientCertificate } from '@skerry/pki'
import type { ApiRequest } from '../contract/exchange.ts'
import { isHubCookie } from '../contract/hub-cookies.ts'
import { bearerTokenOf } from './bearer-token.ts'

/**
 * Returns true if the credentials of a request have expired. Their owner renews short-lived ones
 * and stays the same person, so open connections continue unless the person's rights end.
 */
export function haveRunOut({ peer, headers }: ApiRequest, nowMs: number): boolean {
  if (peer.type === 'process') return false
  // A session ends by its own rules, whatever certificate the browser shows as well.
  if (headers.cookie?.split(';').some(isHubCookie) === true) return false
  const [leaf] = peer.certificates
  if (leaf && readClientCertificate(leaf).notAfterMs < nowMs) return true
  const token = bearerTokenOf({ headers, clientCertificates: [] })
  const expiry = token === undefined ? undefined : expiryOf(token)
  return expiry !== undefined && expiry * 1_000 <= nowMs
}

/** Returns the `exp` of a JWT in seconds (RFC 7519, 4.1.4). It was verified when the request came. */
function expiryOf(token: string): number | undefined {
  const [, payload = '', signature] = token.split('.', 3)
  if (signature === undefined) return undefined
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'))
    const expiry = isJsonObject(claims) ? claims['exp'] : undefined
    return typeof expiry === 'number' ? expiry : undefined
  } catch {
    // This is another type of token.
    return undefined
  }
}
