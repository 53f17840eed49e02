import { createHash } from 'node:crypto'

export interface EncryptionKey {
  name: string
  /** The base64 of 32 bytes. */
  secret: string
}

/** Returns our own EncryptionConfiguration: the first key writes, all keys read, and so do plain values. */
export function encryptionConfigOf(keys: readonly EncryptionKey[]): string {
  const config = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources: ['secrets'], providers: [{ aesgcm: { keys } }, { identity: {} }] }],
  }
  // JSON is valid YAML.
  return `${JSON.stringify(config, null, 2)}\n`
}

/** Returns the hash by which the metric names the file in use. */
export function fileHash(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`
}
