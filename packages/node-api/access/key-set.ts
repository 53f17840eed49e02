import { createPublicKey } from 'node:crypto'
import { isJsonObject } from '@skerry/api'

/** The issuer of service account tokens and the keys that verify them. */
export interface TokenKeys {
  readonly issuer: string
  /** PEM. */
  readonly keyPems: readonly string[]
}

/** Reads the answers of a cluster's OpenID discovery. Throws Error with what is wrong. */
export function readTokenKeys(configuration: unknown, keySet: unknown): TokenKeys {
  const issuer = isJsonObject(configuration) ? configuration['issuer'] : undefined
  if (typeof issuer !== 'string' || issuer === '') {
    throw new Error('Cannot use keys of tokens: the discovery document names no issuer')
  }
  const keys = isJsonObject(keySet) ? keySet['keys'] : undefined
  if (!Array.isArray(keys) || keys.length === 0) {
    throw new Error('Cannot use keys of tokens: the key set is empty')
  }
  const keyPems = keys.map((key: object) =>
    createPublicKey({ key, format: 'jwk' }).export({ type: 'spki', format: 'pem' }).toString(),
  )
  return { issuer, keyPems }
}
