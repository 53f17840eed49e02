import { randomBytes } from 'node:crypto'
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js'
import { tooShort, type NamedKey } from './aes-transformers.ts'
import { UnreadableValueError, type Transformer } from './transformer.ts'

const nonceBytes = 24
const tagBytes = 16

/** Implements NaCl's secretbox: XSalsa20 and Poly1305. Imported only if a configuration names it. */
export function createSecretbox({ name, secret }: NamedKey): Transformer {
  return {
    prefix: `k8s:enc:secretbox:v1:${name}:`,
    seal(value) {
      const nonce = randomBytes(nonceBytes)
      return Buffer.concat([nonce, xsalsa20poly1305(secret, nonce).encrypt(value)])
    },
    open(sealed) {
      if (sealed.length < nonceBytes + tagBytes) throw tooShort()
      const nonce = sealed.subarray(0, nonceBytes)
      try {
        return xsalsa20poly1305(secret, nonce).decrypt(sealed.subarray(nonceBytes))
      } catch (error) {
        throw new UnreadableValueError('output array was not large enough for encryption', {
          cause: error,
        })
      }
    },
  }
}
