/**
 * Encrypts and decrypts values with one provider. A value's prefix names the provider and key that
 * wrote it.
 */
export interface Transformer {
  /** `k8s:enc:<provider>:v1:<key>:`, or empty for values that are stored unencrypted. */
  readonly prefix: string
  /** `context` is the storage path. Providers that authenticate include it in the authenticated data. */
  seal(value: Uint8Array, context: string): Uint8Array
  /**
   * Takes the value without the prefix. Throws if the value was changed, moved to another path, or
   * has another key.
   */
  open(sealed: Uint8Array, context: string): Uint8Array
  /**
   * Fetches the key of this value if it is elsewhere. Returns undefined if the key is at hand.
   * Never rejects.
   */
  readonly fetch?: (sealed: Uint8Array) => Promise<void> | undefined
  /** Returns true if a write would seal the value differently, though with the same prefix. */
  readonly isStale?: (sealed: Uint8Array) => boolean
}

/** Reports that the value cannot be read with the available keys. Its bytes stay as they are. */
export class UnreadableValueError extends Error {
  override name = 'UnreadableValueError'
}
