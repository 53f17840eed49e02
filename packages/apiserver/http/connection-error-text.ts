export interface Place {
  readonly host: string
  readonly port: number
}

/**
 * Formats a connection error in the words of Go's network library, because people and scripts look
 * for them in messages about webhooks and extension servers.
 */
export function connectionErrorText(error: unknown, place: Place): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const say = sayings[code]
  return say ? say(error, place) : error.message
}

export function hostPort({ host, port }: Place): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

type Saying = (error: Error, place: Place) => string

const dialed =
  (what: string): Saying =>
  (error, place) =>
    `dial tcp ${hostPort({ ...place, host: dialledAddress(error) ?? place.host })}: ${what}`

/**
 * Returns the address that was dialled. Several tries are one error with many causes, of which the
 * first is reported.
 */
function dialledAddress(error: Error): string | undefined {
  const [first] = error instanceof AggregateError ? error.errors : [error]
  const isKnown = first instanceof Error && 'address' in first
  return isKnown && typeof first.address === 'string' ? first.address : undefined
}

const notFound: Saying = (_error, { host }) => `dial tcp: lookup ${host}: no such host`
const unverified =
  (why: string): Saying =>
  () =>
    `tls: failed to verify certificate: x509: ${why}`
const unknownAuthority = unverified('certificate signed by unknown authority')
const outOfDate = unverified('certificate has expired or is not yet valid')
const ended: Saying = () => 'EOF'
const plainText: Saying = () => 'http: server gave HTTP response to HTTPS client'

const sayings: Readonly<Record<string, Saying>> = Object.freeze({
  ECONNREFUSED: dialed('connect: connection refused'),
  EHOSTUNREACH: dialed('connect: no route to host'),
  ENETUNREACH: dialed('connect: network is unreachable'),
  ETIMEDOUT: dialed('i/o timeout'),
  ENOTFOUND: notFound,
  EAI_AGAIN: notFound,
  ECONNRESET: ended,
  EPIPE: ended,
  ERR_SSL_WRONG_VERSION_NUMBER: plainText,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: plainText,
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
