/**
 * What went wrong between two machines, in the words of Go's network library: people and scripts look
 * for them in messages about webhooks.
 */
export function connectionErrorText(error: unknown, place: { host: string; port: number }): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const say = sayings[code]
  return say ? say(error, place) : error.message
}

type Saying = (error: Error, place: { host: string; port: number }) => string

const dialed =
  (what: string): Saying =>
  (_error, { host, port }) =>
    `dial tcp ${host.includes(':') ? `[${host}]` : host}:${port}: ${what}`

const notFound: Saying = (_error, { host }) => `dial tcp: lookup ${host}: no such host`
const unverified =
  (why: string): Saying =>
  () =>
    `tls: failed to verify certificate: x509: ${why}`
const unknownAuthority = unverified('certificate signed by unknown authority')
const outOfDate = unverified('certificate has expired or is not yet valid')
const ended: Saying = () => 'EOF'

const sayings: Readonly<Record<string, Saying>> = Object.freeze({
  ECONNREFUSED: dialed('connect: connection refused'),
  EHOSTUNREACH: dialed('connect: no route to host'),
  ENETUNREACH: dialed('connect: network is unreachable'),
  ETIMEDOUT: dialed('i/o timeout'),
  ENOTFOUND: notFound,
  EAI_AGAIN: notFound,
  ECONNRESET: ended,
  EPIPE: ended,
  ERR_SSL_WRONG_VERSION_NUMBER: () => 'http: server gave HTTP response to HTTPS client',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: () => 'http: server gave HTTP response to HTTPS client',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  CERT_SIGNATURE_FAILURE: unknownAuthority,
  CERT_HAS_EXPIRED: outOfDate,
  CERT_NOT_YET_VALID: outOfDate,
  ERR_TLS_CERT_ALTNAME_INVALID: (error) => `tls: failed to verify certificate: ${error.message}`,
})
