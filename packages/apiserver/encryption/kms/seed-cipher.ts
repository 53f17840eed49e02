import { createHmac, randomBytes } from 'node:crypto'
import { createAesGcm } from '../transformers/aes-transformers.ts'
import { UnreadableValueError } from '../transformers/transformer.ts'

/** Encrypts and decrypts the values of one data encryption key. */
export interface DataCipher {
  seal(value: Uint8Array, context: string): Uint8Array
  open(sealed: Uint8Array, context: string): Uint8Array
}

export const seedBytes = 32
const infoBytes = 32

/**
 * Each value has its own key, which HKDF (RFC 5869, expand with SHA-256) derives from the seed and
 * from random bytes that precede the value. One seed is therefore good for any number of writes.
 */
export function createSeedCipher(seed: Uint8Array): DataCipher {
  // One block of HKDF's output is a whole key.
  const cipherOf = (info: Uint8Array): DataCipher => {
    const secret = createHmac('sha256', seed).update(info).update(Uint8Array.of(1)).digest()
    return createAesGcm({ name: '', secret })
  }
  return {
    seal(value, context) {
      const info = randomBytes(infoBytes)
      return Buffer.concat([info, cipherOf(info).seal(value, context)])
    },
    open(sealed, context) {
      if (sealed.length < infoBytes) {
        throw new UnreadableValueError('the stored data was shorter than the required size')
      }
      return cipherOf(sealed.subarray(0, infoBytes)).open(sealed.subarray(infoBytes), context)
    },
  }
}
