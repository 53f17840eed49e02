import { createPrivateKey, createPublicKey, type KeyObject, type webcrypto } from 'node:crypto'
import { pkiBounds } from './limits-table.ts'

type CryptoKey = webcrypto.CryptoKey

/** How a key signs and is imported into WebCrypto. ECDSA (P-256, P-384, P-521) and RSA keys are supported. */
interface SigningAlgorithm {
  readonly algorithm: { name: string; namedCurve?: string; hash: string }
}

const curves: Readonly<Record<string, { namedCurve: string; hash: string }>> = {
  prime256v1: { namedCurve: 'P-256', hash: 'SHA-256' },
  secp384r1: { namedCurve: 'P-384', hash: 'SHA-384' },
  secp521r1: { namedCurve: 'P-521', hash: 'SHA-512' },
}

export function signingAlgorithmOf(key: KeyObject): SigningAlgorithm['algorithm'] {
  if (key.asymmetricKeyType === 'rsa') return { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
  const curve = curves[key.asymmetricKeyDetails?.namedCurve ?? '']
  if (key.asymmetricKeyType === 'ec' && curve) return { name: 'ECDSA', ...curve }
  throw new TypeError(`Cannot use key: type ${key.asymmetricKeyType} is neither RSA nor a P curve`)
}

const { rsaBitsMin } = pkiBounds.signingKey

/**
 * Returns false for a key that cannot sign certificates or tokens here: Ed25519, another curve, a
 * short RSA key.
 */
export function isSigningKey(privateKeyPem: string): boolean {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = createPrivateKey(privateKeyPem)
  if (type === 'rsa') return (details?.modulusLength ?? 0) >= rsaBitsMin
  return type === 'ec' && Object.hasOwn(curves, details?.namedCurve ?? '')
}

/** Imports both halves into WebCrypto, from the private key alone. */
export function toCryptoKeys(privateKeyPem: string): {
  privateKey: CryptoKey
  publicKey: CryptoKey
  algorithm: SigningAlgorithm['algorithm']
} {
  const privateKey = createPrivateKey(privateKeyPem)
  const algorithm = signingAlgorithmOf(privateKey)
  return {
    privateKey: privateKey.toCryptoKey(algorithm, false, ['sign']),
    publicKey: createPublicKey(privateKey).toCryptoKey(algorithm, true, ['verify']),
    algorithm,
  }
}
