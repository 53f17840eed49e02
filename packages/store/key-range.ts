/** Keys from `from` (inclusive) to `until` (exclusive; absent: no end), ordered by UTF-8 bytes. */
export interface KeyRange {
  readonly from: string
  readonly until?: string
}

const codePointMax = 0x10ffff
const surrogatesFirst = 0xd800
const surrogatesEnd = 0xe000

/** All keys that begin with `prefix`. */
export function prefixRange(prefix: string): KeyRange {
  const until = successor(prefix)
  return until === undefined ? { from: prefix } : { from: prefix, until }
}

/** The least key above every key with this prefix; code points order like their UTF-8 bytes. */
function successor(prefix: string): string | undefined {
  const points = Array.from(prefix, (char) => char.codePointAt(0) ?? 0)
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === codePointMax) continue
    const next = last + 1 === surrogatesFirst ? surrogatesEnd : last + 1
    return String.fromCodePoint(...points, next)
  }
  return undefined
}
