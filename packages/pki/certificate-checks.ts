import { createHash, X509Certificate } from 'node:crypto'

/**
 * What the engine itself can tell of a certificate. Apart from certificate.ts, so that a program
 * that only checks certificates does not hold the X.509 library in memory (6 MB).
 */

/** True when `certificatePem` was signed by the key of `authorityPem`; says nothing about dates. */
export function isIssuedBy(certificatePem: string, authorityPem: string): boolean {
  const authority = new X509Certificate(authorityPem)
  const certificate = new X509Certificate(certificatePem)
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
}

/** `sha256:<hex>` over the SubjectPublicKeyInfo, as kubeadm pins a CA. */
export function spkiHash(certificatePem: string): string {
  const der = new X509Certificate(certificatePem).publicKey.export({ type: 'spki', format: 'der' })
  return `sha256:${createHash('sha256').update(der).digest('hex')}`
}

/** Every CERTIFICATE block of a PEM bundle, each as PEM of its own. */
export function decodePem(bundle: string): string[] {
  const blocks = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return blocks.map((block) => `${block}\n`)
}

/** When a certificate is good; milliseconds since the Unix epoch. Throws when it is not PEM. */
export function validityOf(certificatePem: string): { notBeforeMs: number; notAfterMs: number } {
  const { validFromDate, validToDate } = new X509Certificate(certificatePem)
  return { notBeforeMs: validFromDate.getTime(), notAfterMs: validToDate.getTime() }
}

/** Hexadecimal SHA-256 over the whole certificate. Throws when it is not PEM. */
export function fingerprintOf(certificatePem: string): string {
  return new X509Certificate(certificatePem).fingerprint256.replaceAll(':', '').toLowerCase()
}

/** True when the certificate names all of these, so that a client which checks names accepts it. */
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
