import { createHash } from 'node:crypto'
import { extendedUsages, keyUsages, type KeyUsage } from './usages.ts'
import { x509 } from './x509-library.ts'

export interface AlternativeNames {
  readonly dnsNames: readonly string[]
  readonly ipAddresses: readonly string[]
  readonly emails: readonly string[]
  readonly uris: readonly string[]
}

/** The fields read from a certificate. */
export interface Certificate extends AlternativeNames {
  readonly commonName: string
  readonly organizations: readonly string[]
  readonly issuerCommonName: string
  /** Lower-case hexadecimal. */
  readonly serialNumber: string
  readonly notBeforeMs: number
  readonly notAfterMs: number
  readonly isAuthority: boolean
  readonly keyUsages: readonly KeyUsage[]
  /**
   * Known names, otherwise object identifiers. The list is empty if the certificate has no such
   * extension.
   */
  readonly extendedUsages: readonly string[]
  /** The hexadecimal SHA-256 of the whole certificate. */
  readonly fingerprint: string
}

/** Reads PEM (its first certificate) or DER. Throws TypeError if it is neither. */
export function readCertificate(source: string | Uint8Array): Certificate {
  const certificate = parse(source)
  return {
    ...subjectOf(certificate.subjectName),
    ...namesOf(certificate.extensions),
    issuerCommonName: subjectOf(certificate.issuerName).commonName,
    serialNumber: certificate.serialNumber.toLowerCase(),
    notBeforeMs: certificate.notBefore.getTime(),
    notAfterMs: certificate.notAfter.getTime(),
    isAuthority: certificate.getExtension(x509.BasicConstraintsExtension)?.ca ?? false,
    keyUsages: readKeyUsages(certificate.getExtension(x509.KeyUsagesExtension)?.usages ?? 0),
    extendedUsages: readExtendedUsages(
      certificate.getExtension(x509.ExtendedKeyUsageExtension)?.usages ?? [],
    ),
    fingerprint: createHash('sha256').update(new Uint8Array(certificate.rawData)).digest('hex'),
  }
}

export function subjectOf(name: InstanceType<typeof x509.Name>): {
  commonName: string
  organizations: string[]
} {
  return { commonName: name.getField('CN').at(-1) ?? '', organizations: name.getField('O') }
}

export function namesOf(
  extensions: readonly InstanceType<typeof x509.Extension>[],
): AlternativeNames {
  // The names are copied into a plain array, because the library's own array type creates further
  // ones.
  const names = [...extensions]
    .filter((extension) => extension instanceof x509.SubjectAlternativeNameExtension)
    .flatMap((extension) => extension.names.items)
  const ofType = (type: string): string[] =>
    names.filter((name) => name.type === type).map((name) => name.value)
  return {
    dnsNames: ofType('dns'),
    ipAddresses: ofType('ip'),
    emails: ofType('email'),
    uris: ofType('url'),
  }
}

function parse(source: string | Uint8Array): InstanceType<typeof x509.X509Certificate> {
  try {
    return new x509.X509Certificate(typeof source === 'string' ? source : new Uint8Array(source))
  } catch (cause) {
    throw new TypeError('Cannot read certificate: it is neither PEM nor DER', { cause })
  }
}

function readKeyUsages(bits: number): KeyUsage[] {
  // Object.keys returns exactly the keys of this frozen table.
  const all = Object.keys(keyUsages) as KeyUsage[]
  return all.filter((usage) => (bits & keyUsages[usage]) !== 0)
}

function readExtendedUsages(oids: readonly unknown[]): string[] {
  const nameOf = new Map<string, string>(
    Object.entries(extendedUsages).map(([name, oid]) => [oid, name]),
  )
  return Array.from(oids, String).map((oid) => nameOf.get(oid) ?? oid)
}
