import type { Clock } from '@skerry/base'
import { readClientCertificate, type ClientCertificate } from '@skerry/pki'
import type { AuthenticatedUser, Authenticator } from '../contract/access.ts'
import { unauthorized } from './token-authenticator.ts'
import { extraKeys } from '../contract/user-names.ts'

/**
 * Authenticates client certificates: the common name is the user, organizations are its groups. TLS
 * verified the chain when the connection opened. This checks what can change or is not TLS's task:
 * the dates, on each request, and that the certificate is for clients.
 */
export function createX509Authenticator(clock: Clock): Authenticator {
  return {
    async authenticate({ clientCertificates: [leaf] }) {
      if (!leaf) return undefined
      const certificate = readClientCertificate(leaf)
      checkDates(certificate, clock.now())
      return userOf(certificate)
    },
  }
}

function checkDates(certificate: ClientCertificate, nowMs: number): void {
  if (nowMs < certificate.notBeforeMs || nowMs > certificate.notAfterMs) {
    throw unauthorized(
      new Error('Cannot authenticate: the client certificate is expired or not yet valid'),
    )
  }
}

/** All requests of a certificate share one user object, so that values derived from it are computed once. */
const users = new WeakMap<ClientCertificate, AuthenticatedUser>()

function userOf(certificate: ClientCertificate): AuthenticatedUser {
  const known = users.get(certificate)
  if (known) return known
  const user = toUser(certificate)
  users.set(certificate, user)
  return user
}

function toUser({
  commonName,
  organizations,
  extendedUsages,
  fingerprint,
}: ClientCertificate): AuthenticatedUser {
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
      extra: { [extraKeys.credentialId]: [`X509SHA256=${fingerprint}`] },
    },
  }
}
