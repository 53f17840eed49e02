import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPair as generate,
} from 'node:crypto'
import { promisify } from 'node:util'

/** An ECDSA P-256 key pair in PEM: PKCS#8 private, SPKI public. */
export interface KeyPair {
  readonly privateKeyPem: string
  readonly publicKeyPem: string
}

export async function generateKeyPair(): Promise<KeyPair> {
  const { privateKey, publicKey } = await promisify(generate)('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  return { privateKeyPem: privateKey, publicKeyPem: publicKey }
}

/** Throws if the text is not a private key that this platform reads. */
export function publicKeyOf(privateKeyPem: string): string {
  const publicKey = createPublicKey(createPrivateKey(privateKeyPem))
  return publicKey.export({ type: 'spki', format: 'pem' }).toString()
}

/** Returns the key id that Kubernetes puts into token headers: base64url of SHA-256 over the SPKI in DER. */
export function keyId(publicKeyPem: string): string {
  const der = createPublicKey(publicKeyPem).export({ type: 'spki', format: 'der' })
  return createHash('sha256').update(der).digest('base64url')
}
