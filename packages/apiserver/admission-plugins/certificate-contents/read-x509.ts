import { X509Certificate } from 'node:crypto'
import { readCertificate, type Certificate } from '@skerry/pki'

export interface ReadCertificate extends Certificate {
  /** SPKI in DER. */
  readonly publicKeyDer: Uint8Array
}

/** Undefined: the text is no certificate, or one with bytes after it. */
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
    // What does not parse is the answer here; why it does not is in the parser's own words.
    return undefined
  }
}
