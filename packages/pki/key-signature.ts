import { createPrivateKey, sign, verify, X509Certificate } from 'node:crypto'

/** Signs the text with SHA-256, in base64: ECDSA or RSA (PKCS #1), depending on the key. */
export function signText(text: string, privateKeyPem: string): string {
  return sign('sha256', Buffer.from(text), createPrivateKey(privateKeyPem)).toString('base64')
}

/** Returns true if the key of that certificate made the signature. Does not check the certificate itself. */
export function isSignedBy(text: string, signature: string, certificatePem: string): boolean {
  const { publicKey } = new X509Certificate(certificatePem)
  return verify('sha256', Buffer.from(text), publicKey, Buffer.from(signature, 'base64'))
}
