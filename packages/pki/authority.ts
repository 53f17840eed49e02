import { createPublicKey, randomBytes, type webcrypto } from 'node:crypto'
import { generateKeyPair } from './key-pair.ts'
import { signingAlgorithmOf, toCryptoKeys } from './signing-key.ts'
import { extendedUsages, keyUsageBits, type KeyUsage } from './usages.ts'
import { x509 } from './x509-library.ts'

/** The identity in a certificate. */
export interface Subject {
  readonly commonName: string
  readonly organizations?: readonly string[]
}

/** A certificate with its private key that can sign others. */
export interface Authority {
  readonly certificatePem: string
  readonly privateKeyPem: string
}

export interface CertificateProfile {
  readonly subject: Subject
  readonly publicKeyPem: string
  /** Milliseconds since the Unix epoch; certificates keep whole seconds. */
  readonly notBeforeMs: number
  readonly notAfterMs: number
  readonly keyUsages: readonly KeyUsage[]
  /** Names from the table in usages.ts, or object identifiers. */
  readonly extendedUsages: readonly string[]
  readonly dnsNames?: readonly string[]
  readonly ipAddresses?: readonly string[]
  readonly emails?: readonly string[]
  readonly uris?: readonly string[]
  /**
   * The start of the serial number, in hexadecimal: at most 13 whole bytes, the first from 01 to
   * 7f. Default: random.
   */
  readonly serialPrefix?: string | undefined
}

export interface AuthorityOptions {
  readonly subject: Subject
  readonly notBeforeMs: number
  readonly notAfterMs: number
}

/** Creates a self-signed root with a new ECDSA P-256 key. */
export async function createAuthority(options: AuthorityOptions): Promise<Authority> {
  const { privateKeyPem } = await generateKeyPair()
  return selfSigned(privateKeyPem, toName(options.subject), options)
}

/**
 * Returns the same authority with other dates. Its key and name stay the same, so that every
 * certificate that it has signed, and every hash that pins it, remains valid.
 */
export async function redateAuthority(
  { certificatePem, privateKeyPem }: Authority,
  dates: Pick<AuthorityOptions, 'notBeforeMs' | 'notAfterMs'>,
): Promise<Authority> {
  const { subjectName } = new x509.X509Certificate(certificatePem)
  return selfSigned(privateKeyPem, subjectName.toJSON(), dates)
}

async function selfSigned(
  privateKeyPem: string,
  name: ReturnType<InstanceType<typeof x509.Name>['toJSON']>,
  dates: Pick<AuthorityOptions, 'notBeforeMs' | 'notAfterMs'>,
): Promise<Authority> {
  const keys = toCryptoKeys(privateKeyPem)
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerialNumber(),
    name,
    notBefore: new Date(dates.notBeforeMs),
    notAfter: new Date(dates.notAfterMs),
    signingAlgorithm: keys.algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(
        keyUsageBits(['digitalSignature', 'keyEncipherment', 'keyCertSign']),
        true,
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { certificatePem: toPemText(certificate.toString('pem')), privateKeyPem }
}

/**
 * Signs one leaf certificate, which never outlives the authority. Returns PEM. Throws RangeError if
 * the certificate would end before it begins, e.g. because the authority has expired by then.
 */
export async function signCertificate(
  authority: Authority,
  profile: CertificateProfile,
): Promise<string> {
  const issuer = new x509.X509Certificate(authority.certificatePem)
  const notAfterMs = Math.min(profile.notAfterMs, issuer.notAfter.getTime())
  if (profile.notBeforeMs >= notAfterMs) {
    const [begin, end] = [profile.notBeforeMs, notAfterMs].map((ms) => new Date(ms).toISOString())
    throw new RangeError(
      `Cannot sign certificate for "${profile.subject.commonName}": it would begin at ${begin} and end at ${end}; check this machine's clock, and when the authority ends`,
    )
  }
  const keys = toCryptoKeys(authority.privateKeyPem)
  const publicKey = importPublicKey(profile.publicKeyPem)
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: newSerialNumber(profile.serialPrefix),
    subject: toName(profile.subject),
    issuer: issuer.subjectName,
    notBefore: new Date(profile.notBeforeMs),
    notAfter: new Date(notAfterMs),
    signingAlgorithm: keys.algorithm,
    publicKey,
    signingKey: keys.privateKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(keyUsageBits(profile.keyUsages), true),
      ...extendedUsageExtension(profile.extendedUsages),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      ...alternativeNames(profile),
    ],
  })
  return toPemText(certificate.toString('pem'))
}

function toName(subject: Subject): { [type: string]: string[] }[] {
  const organizations = (subject.organizations ?? []).map((name) => ({ O: [name] }))
  return [...organizations, { CN: [subject.commonName] }]
}

/** Returns nothing if the profile has no names, because an empty extension is not valid. */
function alternativeNames(
  profile: Pick<CertificateProfile, 'dnsNames' | 'ipAddresses' | 'emails' | 'uris'>,
): InstanceType<typeof x509.SubjectAlternativeNameExtension>[] {
  const names = [
    ...(profile.dnsNames ?? []).map((value) => ({ type: 'dns' as const, value })),
    ...(profile.ipAddresses ?? []).map((value) => ({ type: 'ip' as const, value })),
    ...(profile.emails ?? []).map((value) => ({ type: 'email' as const, value })),
    ...(profile.uris ?? []).map((value) => ({ type: 'url' as const, value })),
  ]
  return names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)]
}

function toPemText(pem: string): string {
  return pem.endsWith('\n') ? pem : `${pem}\n`
}

function extendedUsageExtension(
  usages: readonly string[],
): InstanceType<typeof x509.ExtendedKeyUsageExtension>[] {
  if (usages.length === 0) return []
  const byName: Readonly<Record<string, string>> = extendedUsages
  return [new x509.ExtendedKeyUsageExtension(usages.map((usage) => byName[usage] ?? usage))]
}

function importPublicKey(publicKeyPem: string): webcrypto.CryptoKey {
  const key = createPublicKey(publicKeyPem)
  return key.toCryptoKey(signingAlgorithmOf(key), true, ['verify'])
}

/** Returns 127 random bits: positive in DER, and never zero. With a prefix it has 20 bytes, the maximum. */
function newSerialNumber(prefix?: string): string {
  if (prefix !== undefined) return prefix + randomBytes(20 - prefix.length / 2).toString('hex')
  const bytes = randomBytes(16)
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40
  return bytes.toString('hex')
}
