import { isIP } from 'node:net'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'

/**
 * Checks that the certificate is for that name. Only its subject alternative names count, never its
 * common name. The message is that of Go's library, which people know.
 */
export function webhookIdentityError(
  serverName: string,
  certificate: PeerCertificate,
): Error | undefined {
  const { subjectaltname: names = '' } = certificate
  const message =
    names === '' ? withoutNames(serverName, certificate) : wrongName(serverName, certificate)
  if (message === undefined) return undefined
  return Object.assign(new Error(message), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
}

function withoutNames(serverName: string, { subject }: PeerCertificate): string {
  if (isIP(serverName) > 0) return noAddresses(serverName)
  return subject?.CN
    ? 'x509: certificate relies on legacy Common Name field, use SANs instead'
    : `x509: certificate is not valid for any names, but wanted to match ${serverName}`
}

function wrongName(serverName: string, certificate: PeerCertificate): string | undefined {
  if (checkServerIdentity(serverName, certificate) === undefined) return undefined
  const isAddress = isIP(serverName) > 0
  const prefix = isAddress ? 'IP Address:' : 'DNS:'
  const names = (certificate.subjectaltname ?? '')
    .split(', ')
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length))
  if (names.length > 0) {
    return `x509: certificate is valid for ${names.join(', ')}, not ${serverName}`
  }
  if (isAddress) return noAddresses(serverName)
  return `x509: certificate is not valid for any names, but wanted to match ${serverName}`
}

function noAddresses(address: string): string {
  return `x509: cannot validate certificate for ${address} because it doesn't contain any IP SANs`
}
