import type { X509Certificate } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import { decodePem, isIssuedBy } from '@skerry/pki'

const commonName = 'CN=system:node:'
const group = 'O=system:nodes'

const known = new WeakMap<TLSSocket, { readonly name: string | undefined }>()

/**
 * Returns the name of the node at the other end: TLS has proved its key, and the cluster's authority signed its certificate.
 * Dates do not matter, since the clock of either machine may be wrong, and a certificate that ended still names its node.
 */
export function peerNode(socket: TLSSocket, authorityPem: string): string | undefined {
  const seen = known.get(socket)
  if (seen) return seen.name
  const certificate = socket.getPeerX509Certificate()
  const name = certificate && nameIn(certificate, authorityPem)
  known.set(socket, { name })
  return name
}

function nameIn(certificate: X509Certificate, authorityPem: string): string | undefined {
  const pem = certificate.toString()
  if (!decodePem(authorityPem).some((authority) => isIssuedBy(pem, authority))) return undefined
  const lines = certificate.subject.split('\n')
  const [name, ...others] = lines.filter((line) => line.startsWith('CN='))
  if (name === undefined || others.length > 0 || !lines.includes(group)) return undefined
  return name.startsWith(commonName) ? name.slice(commonName.length) : undefined
}
