import { createHash } from 'node:crypto'

export interface EncryptionKey {
  name: string
  /** Base64 of 32 bytes. */
  secret: string
}

/** An EncryptionConfiguration of our own making: the first key writes, all read, and so does what is plain. */
export function encryptionConfigOf(keys: readonly EncryptionKey[]): string {
  const config = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources: ['secrets'], providers: [{ aesgcm: { keys } }, { identity: {} }] }],
  }
  // JSON is YAML, too.
  return `${JSON.stringify(config, null, 2)}\n`
}

/** As the metric names the file that is in use. */
export function fileHash(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`
}
