import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

/** Derives a key for one purpose from a secret of high entropy (RFC 5869). */
export function deriveKey(secret: string | Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', `skerry console: ${purpose}`, 32))
}

const nonceBytes = 12
const tagBytes = 16

/** Encrypts and authenticates a text with AES-256-GCM; `place` is where it belongs. Returns base64url. */
export function seal(text: string, key: Uint8Array, place: string): string {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(Buffer.from(place))
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')
}

/** Returns undefined if the text was sealed with another key, for another place, or not at all. */
export function unseal(sealed: string, key: Uint8Array, place: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url')
  if (bytes.length < nonceBytes + tagBytes) return undefined
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes))
  decipher.setAAD(Buffer.from(place))
  decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
  try {
    const body = decipher.update(bytes.subarray(nonceBytes + tagBytes))
    return Buffer.concat([body, decipher.final()]).toString('utf8')
  } catch {
    // The tag does not fit.
    return undefined
  }
}

export function macOf(text: string, key: Uint8Array): string {
  return createHmac('sha256', key).update(text).digest('base64url')
}

export function isMacOf(mac: string, text: string, key: Uint8Array): boolean {
  const [given, right] = [Buffer.from(mac), Buffer.from(macOf(text, key))]
  return given.length === right.length && timingSafeEqual(given, right)
}
