import { createPublicKey, type KeyObject } from 'node:crypto'
import { keyId, publicKeyOf } from '@skerry/pki'
import type { JWK } from 'jose'

/** A key that signs or verifies service account tokens. */
export interface VerificationKey {
  readonly id: string
  /** RS256, ES256, ES384 or ES512, by the key. */
  readonly algorithm: string
  readonly publicKey: KeyObject
}

const curveAlgorithms: Readonly<Record<string, string>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
}

/** Accepts public keys, and private ones, of which it uses the public half. */
export function readVerificationKey(pem: string): VerificationKey {
  const publicKeyPem = pem.includes('PRIVATE KEY-----') ? publicKeyOf(pem) : pem
  const publicKey = createPublicKey(publicKeyPem)
  return { id: keyId(publicKeyPem), algorithm: algorithmOf(publicKey), publicKey }
}

/** Returns the public keys as a JSON Web Key Set, for programs that verify our tokens themselves. */
export function toKeySet(keys: readonly VerificationKey[]): { keys: JWK[] } {
  return {
    keys: keys.map(({ id, algorithm, publicKey }) => ({
      use: 'sig',
      kid: id,
      alg: algorithm,
      ...publicKey.export({ format: 'jwk' }),
    })),
  }
}

function algorithmOf(key: KeyObject): string {
  if (key.asymmetricKeyType === 'rsa') return 'RS256'
  const algorithm = curveAlgorithms[key.asymmetricKeyDetails?.namedCurve ?? '']
  if (algorithm !== undefined) return algorithm
  throw new TypeError(`Cannot use service account key: type ${key.asymmetricKeyType} is not known`)
}
