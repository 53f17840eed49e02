import { X509Certificate } from 'node:crypto'
import { readCertificate, type Certificate } from '@skerry/pki'

export interface ReadCertificate extends Certificate {
  /** SPKI in DER. */
  readonly publicKeyDer: Uint8Array
}

/** Returns undefined if the text is not a certificate, or has bytes after it. */
export function readX509(base64: string): ReadCertificate | undefined {
  const der = Buffer.from(base64, 'base64')
  try {
    const { raw, publicKey } = new X509Certificate(der)
    if (raw.length !== der.length) return undefined
    return {
      ...readCertificate(der),
      publicKeyDer: publicKey.export({ type: 'spki', format: 'der' }),
    }
  } catch {
    // The caller only needs to know that it does not parse; the reason is in the parser's own
    // words.
    return undefined
  }
}
