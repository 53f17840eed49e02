/** Keys from `from` (inclusive) to `until` (exclusive), by bytes. If `until` is omitted, the range has no end. */
export interface KeyRange {
  readonly from: Uint8Array
  readonly until?: Uint8Array | undefined
  /** True if the range is the key `from` alone. */
  readonly isOneKey: boolean
}

/**
 * Reads a range as etcd's requests have it: without an end it is one key, and the end `\0` stands for all keys from
 * the first on. The bytes are copied, because a request's bytes are part of a larger buffer.
 */
export function keyRange(key: Uint8Array, rangeEnd: Uint8Array): KeyRange {
  const from = new Uint8Array(key)
  if (rangeEnd.length === 0) return { from, until: after(from), isOneKey: true }
  if (rangeEnd.length === 1 && rangeEnd[0] === 0) return { from, isOneKey: false }
  return { from, until: new Uint8Array(rangeEnd), isOneKey: false }
}

export function isInRange(key: Uint8Array, { from, until }: KeyRange): boolean {
  if (Buffer.compare(key, from) < 0) return false
  return until === undefined || Buffer.compare(key, until) < 0
}

/** Returns true if no key can be in the range. */
export function isEmptyRange({ from, until }: KeyRange): boolean {
  return until !== undefined && Buffer.compare(from, until) >= 0
}

/** Returns a text with one character a byte: it orders and compares like the bytes. */
export function textOfKey(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1')
}

/** Returns the prefix that all keys of the range share and no other keys have; undefined if there is none. */
export function prefixOf({ from, until }: KeyRange): string | undefined {
  if (until === undefined) return undefined
  const successor = Buffer.from(from)
  let length = successor.length
  while (length > 0 && successor[length - 1] === 0xff) length -= 1
  if (length === 0) return undefined
  successor[length - 1] = (successor[length - 1] ?? 0) + 1
  return successor.subarray(0, length).equals(until) ? textOfKey(from) : undefined
}

/** Returns the first key after this one. */
function after(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1)
  next.set(key)
  return next
}
