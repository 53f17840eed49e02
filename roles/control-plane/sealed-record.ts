import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** The size of a key of these functions. */
export const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16

/** Encrypts a text with AES-256-GCM. The purpose binds the bytes: those of another one do not open. */
export function seal(text: string, key: Uint8Array, purpose: string): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(purpose))
  const sealed = Buffer.concat([cipher.update(text), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
}

/** Throws if the key or the purpose is another one, or the bytes were changed. */
export function unseal(record: Uint8Array, key: Uint8Array, purpose: string): string {
  const nonce = record.subarray(0, nonceBytes)
  const sealed = record.subarray(nonceBytes + tagBytes)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
  decipher
    .setAAD(Buffer.from(purpose))
    .setAuthTag(record.subarray(nonceBytes, nonceBytes + tagBytes))
  return Buffer.concat([decipher.update(sealed), decipher.final()]).toString()
}
