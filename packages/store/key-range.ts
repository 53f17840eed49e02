/**
 * Keys from `from` (inclusive) to `until` (exclusive), ordered by UTF-8 bytes. If `until` is
 * omitted, the range has no end.
 */
export interface KeyRange {
  readonly from: string
  readonly until?: string
}

const codePointMax = 0x10ffff
const surrogatesFirst = 0xd800
const surrogatesEnd = 0xe000

/** Returns the range of all keys that begin with `prefix`. */
export function prefixRange(prefix: string): KeyRange {
  const until = successor(prefix)
  return until === undefined ? { from: prefix } : { from: prefix, until }
}

/** Returns the least key above every key with this prefix; code points order like their UTF-8 bytes. */
function successor(prefix: string): string | undefined {
  const points = Array.from(prefix, (char) => char.codePointAt(0) ?? 0)
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === codePointMax) continue
    const next = last + 1 === surrogatesFirst ? surrogatesEnd : last + 1
    return String.fromCodePoint(...points, next)
  }
  return undefined
}
