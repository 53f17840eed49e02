import { createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto'
import { addressBytes } from '@skerry/base'
import type { Subject } from './authority.ts'
import type { AlternativeNames } from './certificate.ts'
import { der, derBits, derObjectIdentifier, derTags, derText } from './der.ts'

export interface SigningRequestOptions extends Partial<AlternativeNames> {
  readonly subject: Subject
  readonly privateKeyPem: string
}

/**
 * Creates a PKCS#10 request (RFC 2986) in PEM, signed with its own key. It does not use the X.509
 * library: a node makes two requests in its life and would hold 9 MB for it.
 */
export function createSigningRequest(options: SigningRequestOptions): string {
  const key = createPrivateKey(options.privateKeyPem)
  const { algorithm, digest } = signatureOf(key)
  const request = der(
    derTags.sequence,
    der(derTags.integer, Buffer.from([0])),
    subjectName(options.subject),
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    der(0xa0, ...extensionRequest(options)),
  )
  const signature = sign(digest, request, key)
  const signed = der(derTags.sequence, request, algorithm, derBits(signature))
  const lines = signed.toString('base64').match(/.{1,64}/g) ?? []
  const label = 'CERTIFICATE REQUEST-----'
  return `-----BEGIN ${label}\n${lines.join('\n')}\n-----END ${label}\n`
}

/** RFC 5758, RFC 4055 and RFC 8410; Ed25519 has its digest built in. */
function signatureOf(key: KeyObject): { algorithm: Buffer; digest: string | null } {
  const identified = (oid: string, ...parameters: Buffer[]): Buffer =>
    der(derTags.sequence, derObjectIdentifier(oid), ...parameters)
  switch (key.asymmetricKeyType) {
    case 'ec':
      return { algorithm: identified('1.2.840.10045.4.3.2'), digest: 'sha256' }
    case 'rsa':
      return {
        algorithm: identified('1.2.840.113549.1.1.11', der(derTags.null)),
        digest: 'sha256',
      }
    case 'ed25519':
      return { algorithm: identified('1.3.101.112'), digest: null }
    default:
      throw new TypeError(
        `Cannot sign a request: no algorithm for a key of type ${key.asymmetricKeyType}`,
      )
  }
}

function subjectName({ organizations = [], commonName }: Subject): Buffer {
  const attribute = (oid: string, value: string): Buffer =>
    der(
      derTags.set,
      der(derTags.sequence, derObjectIdentifier(oid), derText(derTags.utf8String, value)),
    )
  return der(
    derTags.sequence,
    ...organizations.map((organization) => attribute('2.5.4.10', organization)),
    attribute('2.5.4.3', commonName),
  )
}

/** Returns the extensionRequest attribute with subjectAltName, or nothing if no names are requested. */
function extensionRequest(names: Partial<AlternativeNames>): Buffer[] {
  const general = [
    ...(names.emails ?? []).map((email) => derText(0x81, email)),
    ...(names.dnsNames ?? []).map((name) => derText(0x82, name)),
    ...(names.uris ?? []).map((uri) => derText(0x86, uri)),
    ...(names.ipAddresses ?? []).map((address) => der(0x87, addressBytes(address))),
  ]
  if (general.length === 0) return []
  const value = der(derTags.octetString, der(derTags.sequence, ...general))
  const extension = der(derTags.sequence, derObjectIdentifier('2.5.29.17'), value)
  return [
    der(
      derTags.sequence,
      derObjectIdentifier('1.2.840.113549.1.9.14'),
      der(derTags.set, der(derTags.sequence, extension)),
    ),
  ]
}
