import type { Clock } from '@skerry/base'
import { readCertificate, type Certificate } from '@skerry/pki'
import type { AuthenticatedUser, Authenticator } from '../access.ts'
import { unauthorized } from './token-authenticator.ts'
import { extraKeys } from './user-names.ts'

/** Certificates whose fields are kept; a client's connections all show the same one. */
const certificatesMax = 1024

/**
 * Client certificates: the common name is the user, organizations are its groups. TLS verified the
 * chain when the connection opened; what may change or is not TLS's to check is checked here: the
 * dates on each request, and that the certificate is for clients.
 */
export function createX509Authenticator(clock: Clock): Authenticator {
  const known = new Map<string, Certificate>()
  /** A connection passes the same bytes with each of its requests. */
  const ofConnection = new WeakMap<Uint8Array, Certificate>()
  const readOnce = (der: Uint8Array): Certificate => {
    const seen = ofConnection.get(der)
    if (seen) return seen
    const certificate = read(der)
    ofConnection.set(der, certificate)
    return certificate
  }
  const read = (der: Uint8Array): Certificate => {
    const key = Buffer.from(der).toString('latin1')
    const seen = known.get(key)
    if (seen) return seen
    const certificate = readCertificate(der)
    const [oldest] = known.keys()
    if (known.size >= certificatesMax && oldest !== undefined) known.delete(oldest)
    known.set(key, certificate)
    return certificate
  }
  return {
    async authenticate({ clientCertificates: [leaf] }) {
      return leaf && toUser(readOnce(leaf), clock.now())
    },
  }
}

function toUser(certificate: Certificate, nowMs: number): AuthenticatedUser {
  const { commonName, organizations, extendedUsages } = certificate
  if (nowMs < certificate.notBeforeMs || nowMs > certificate.notAfterMs) {
    throw unauthorized(new Error('Cannot authenticate: the client certificate is out of its dates'))
  }
  const isForClients =
    extendedUsages.length === 0 ||
    extendedUsages.includes('clientAuth') ||
    extendedUsages.includes('any')
  if (!isForClients || commonName === '') {
    throw unauthorized(new Error('Cannot authenticate: the certificate is not for a client'))
  }
  return {
    user: {
      name: commonName,
      groups: organizations,
      extra: { [extraKeys.credentialId]: [`X509SHA256=${certificate.fingerprint}`] },
    },
  }
}
