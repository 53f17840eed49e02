import { isIPv4 } from 'node:net'
import { ipv4Number, ipv4Text } from '@skerry/base'

interface Range {
  readonly text: string
  readonly first: number
  readonly last: number
}

/**
 * Returns the IPv4 ranges that are not within another one, in order. Everything else is left out, because nft refuses a
 * set whose ranges overlap, and reads texts in its own way.
 */
export function outermostRanges(texts: readonly string[]): string[] {
  const ranges = texts.flatMap((text) => rangeOf(text.trim()) ?? [])
  const widestFirst = ranges.toSorted((a, b) => a.first - b.first || b.last - a.last)
  const kept: Range[] = []
  for (const range of widestFirst) {
    const before = kept.at(-1)
    if (before === undefined || range.last > before.last) kept.push(range)
  }
  return kept.map(({ text }) => text)
}

/** Returns undefined for anything but `a.b.c.d/n`. Bits behind the prefix are cleared. */
function rangeOf(text: string): Range | undefined {
  const [address = '', length = '', ...more] = text.split('/')
  if (!isIPv4(address) || !/^\d{1,2}$/.test(length) || Number(length) > 32 || more.length > 0)
    return undefined
  const size = 2 ** (32 - Number(length))
  const first = Math.floor(ipv4Number(address) / size) * size
  return { text: `${ipv4Text(first)}/${Number(length)}`, first, last: first + size - 1 }
}
