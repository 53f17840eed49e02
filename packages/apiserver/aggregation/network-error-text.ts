/** Why there was no connection, in the words that clients of upstream know. */
export function networkErrorText(error: unknown, address: { host: string; port: number }): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error ? String(error.code) : ''
  const where = `dial tcp ${hostPort({ ...address, host: dialledAddress(error) ?? address.host })}`
  const connect = connectTexts[code]
  if (connect !== undefined) return `${where}: connect: ${connect}`
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${address.host}: no such host`
  const verification = verificationTexts[code]
  if (verification !== undefined) return `tls: failed to verify certificate: x509: ${verification}`
  return error.message
}

/** What a name led to; several tries are one error with many causes, of which the first is told. */
function dialledAddress(error: Error): string | undefined {
  const [first] = error instanceof AggregateError ? error.errors : [error]
  const isKnown = first instanceof Error && 'address' in first
  return isKnown && typeof first.address === 'string' ? first.address : undefined
}

export function hostPort({ host, port }: { host: string; port: number }): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

const connectTexts: Readonly<Record<string, string>> = Object.freeze({
  ECONNREFUSED: 'connection refused',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  ETIMEDOUT: 'connection timed out',
})

const unknownAuthority = 'certificate signed by unknown authority'
const verificationTexts: Readonly<Record<string, string>> = Object.freeze({
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  CERT_HAS_EXPIRED: 'certificate has expired or is not yet valid',
  CERT_NOT_YET_VALID: 'certificate has expired or is not yet valid',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate is not valid for the name of the service',
})
