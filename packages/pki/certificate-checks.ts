import { createHash, X509Certificate } from 'node:crypto'

/**
 * Certificate checks that need only the engine. They are apart from certificate.ts, so that a program that only
 * checks certificates does not hold the X.509 library in memory (6 MB).
 */

/** Returns true if the key of `authorityPem` signed `certificatePem`. Does not check dates. */
export function isIssuedBy(certificatePem: string, authorityPem: string): boolean {
  const authority = new X509Certificate(authorityPem)
  const certificate = new X509Certificate(certificatePem)
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
}

/** Returns `sha256:<hex>` over the SubjectPublicKeyInfo, as kubeadm pins a CA. */
export function spkiHash(certificatePem: string): string {
  const der = new X509Certificate(certificatePem).publicKey.export({ type: 'spki', format: 'der' })
  return `sha256:${createHash('sha256').update(der).digest('hex')}`
}

/** Splits a PEM bundle into its CERTIFICATE blocks. */
export function decodePem(bundle: string): string[] {
  const blocks = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return blocks.map((block) => `${block}\n`)
}

/** Returns a certificate's validity period, in milliseconds since the Unix epoch. Throws if it is not PEM. */
export function validityOf(certificatePem: string): { notBeforeMs: number; notAfterMs: number } {
  const { validFromDate, validToDate } = new X509Certificate(certificatePem)
  return { notBeforeMs: validFromDate.getTime(), notAfterMs: validToDate.getTime() }
}

/** Returns the hexadecimal SHA-256 of the whole certificate. Throws if it is not PEM. */
export function fingerprintOf(certificatePem: string): string {
  return new X509Certificate(certificatePem).fingerprint256.replaceAll(':', '').toLowerCase()
}

/**
 * Returns true if the certificate contains all of these names, so that a client that checks names
 * accepts it.
 */
export function carriesNames(
  certificatePem: string,
  { dnsNames, ipAddresses }: { dnsNames: readonly string[]; ipAddresses: readonly string[] },
): boolean {
  const certificate = new X509Certificate(certificatePem)
  return (
    dnsNames.every((name) => certificate.checkHost(name) !== undefined) &&
    ipAddresses.every((address) => certificate.checkIP(address) !== undefined)
  )
}
