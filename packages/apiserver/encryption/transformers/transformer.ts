/** How one provider keeps a value. Values carry a prefix that says which provider and key wrote them. */
export interface Transformer {
  /** `k8s:enc:<provider>:v1:<key>:`; empty for values that are kept as they are. */
  readonly prefix: string
  /** `context` is the storage path; where the provider authenticates, it is part of what is vouched for. */
  seal(value: Uint8Array, context: string): Uint8Array
  /** Without the prefix. Throws when the value was changed, moved to another path, or has another key. */
  open(sealed: Uint8Array, context: string): Uint8Array
  /** Fetches what opening this value needs, where that is elsewhere; undefined: it is here. Never rejects. */
  readonly fetch?: (sealed: Uint8Array) => Promise<void> | undefined
  /** True when a write would seal the value in another way, though with the same prefix. */
  readonly isStale?: (sealed: Uint8Array) => boolean
}

/** The value cannot be read with the keys there are; its bytes stay as they are. */
export class UnreadableValueError extends Error {
  override name = 'UnreadableValueError'
}
