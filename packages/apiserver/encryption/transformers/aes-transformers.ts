import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { UnreadableValueError, type Transformer } from './transformer.ts'

export interface NamedKey {
  readonly name: string
  readonly secret: Uint8Array
}

const gcmNonceBytes = 12
const gcmTagBytes = 16
const blockBytes = 16

/** Implements AES-GCM with a random nonce; the storage path is additional authenticated data. */
export function createAesGcm({ name, secret }: NamedKey): Transformer {
  const bits = secret.length * 8
  const algorithm = bits === 128 ? 'aes-128-gcm' : bits === 192 ? 'aes-192-gcm' : 'aes-256-gcm'
  const options = { authTagLength: gcmTagBytes }
  return {
    prefix: `k8s:enc:aesgcm:v1:${name}:`,
    seal(value, context) {
      const nonce = randomBytes(gcmNonceBytes)
      const cipher = createCipheriv(algorithm, secret, nonce, options)
      cipher.setAAD(Buffer.from(context))
      return Buffer.concat([nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()])
    },
    open(sealed, context) {
      if (sealed.length < gcmNonceBytes + gcmTagBytes) throw tooShort()
      const decipher = createDecipheriv(
        algorithm,
        secret,
        sealed.subarray(0, gcmNonceBytes),
        options,
      )
      decipher.setAAD(Buffer.from(context))
      decipher.setAuthTag(sealed.subarray(-gcmTagBytes))
      return authenticated(() =>
        Buffer.concat([
          decipher.update(sealed.subarray(gcmNonceBytes, -gcmTagBytes)),
          decipher.final(),
        ]),
      )
    },
  }
}

/** AES-CBC with PKCS #7 padding. It is not authenticated, and serves to read values of other servers. */
export function createAesCbc({ name, secret }: NamedKey): Transformer {
  const algorithm = `aes-${secret.length * 8}-cbc`
  return {
    prefix: `k8s:enc:aescbc:v1:${name}:`,
    seal(value) {
      const vector = randomBytes(blockBytes)
      const cipher = createCipheriv(algorithm, secret, vector)
      return Buffer.concat([vector, cipher.update(value), cipher.final()])
    },
    open(sealed) {
      if (sealed.length < blockBytes) throw tooShort()
      if (sealed.length % blockBytes !== 0) {
        throw new UnreadableValueError('the stored data is not a multiple of the block size')
      }
      const decipher = createDecipheriv(algorithm, secret, sealed.subarray(0, blockBytes))
      try {
        return Buffer.concat([decipher.update(sealed.subarray(blockBytes)), decipher.final()])
      } catch (error) {
        throw new UnreadableValueError('invalid padding on input', { cause: error })
      }
    },
  }
}

export function tooShort(): UnreadableValueError {
  return new UnreadableValueError('the stored data was shorter than the required size')
}

function authenticated(open: () => Uint8Array): Uint8Array {
  try {
    return open()
  } catch (error) {
    throw new UnreadableValueError('cipher: message authentication failed', { cause: error })
  }
}
