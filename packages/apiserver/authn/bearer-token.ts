import type { Credentials } from '../contract/access.ts'

/** The prefix of the WebSocket subprotocol that carries a token. */
export const bearerProtocolPrefix = 'base64url.bearer.authorization.k8s.io.'

/**
 * Returns the bearer token of a request: from the Authorization header, or from the subprotocols of
 * a WebSocket, for browsers that cannot set the header. Returns undefined if there is none.
 */
export function bearerTokenOf(credentials: Credentials): string | undefined {
  const [scheme = '', token = ''] = (credentials.headers.authorization ?? '').trim().split(/ +/)
  if (scheme.toLowerCase() === 'bearer' && token !== '') return token
  return tokenOfProtocols(credentials.headers)
}

function tokenOfProtocols(headers: Credentials['headers']): string | undefined {
  if (headers.upgrade?.toLowerCase() !== 'websocket') return undefined
  const protocols = (headers['sec-websocket-protocol'] ?? '').split(',').map((text) => text.trim())
  const carrier = protocols.find((protocol) => protocol.startsWith(bearerProtocolPrefix))
  if (carrier === undefined || protocols.length < 2) return undefined
  const token = Buffer.from(carrier.slice(bearerProtocolPrefix.length), 'base64url').toString(
    'utf8',
  )
  return token === '' ? undefined : token
}
