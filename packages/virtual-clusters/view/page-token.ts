import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { StatusError } from '@skerry/api'

/**
 * Seals a list's continue token. The edge's own token names the last object, which may be another virtual
 * cluster's.
 */
export interface PageTokens {
  readonly seal: (token: string, cluster: string) => string
  /**
   * Throws StatusError Expired for a token that was not sealed here for this cluster: the client then
   * restarts the list.
   */
  readonly open: (sealed: string, cluster: string) => string
}

const cipherName = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

/**
 * Creates tokens that are valid as long as the process lives, which is longer than the edge keeps the version
 * of a page.
 */
export function createPageTokens(): PageTokens {
  const key = randomBytes(32)
  return {
    seal(token, cluster) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv(cipherName, key, nonce).setAAD(Buffer.from(cluster))
      const body = Buffer.concat([cipher.update(token, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')
    },
    open(sealed, cluster) {
      const bytes = Buffer.from(sealed, 'base64url')
      const [nonce, tag, body] = [
        bytes.subarray(0, nonceBytes),
        bytes.subarray(nonceBytes, nonceBytes + tagBytes),
        bytes.subarray(nonceBytes + tagBytes),
      ]
      try {
        const decipher = createDecipheriv(cipherName, key, nonce, { authTagLength: tagBytes })
        decipher.setAAD(Buffer.from(cluster)).setAuthTag(tag)
        return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
      } catch (cause) {
        // These are upstream's words, on which clients restart the list.
        throw new StatusError(
          'Expired',
          'The provided continue parameter is too old to display a consistent list result. You must start a new list without the continue parameter.',
          { cause },
        )
      }
    },
  }
}
