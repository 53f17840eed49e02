import { canonicalQuantity, parseQuantity, quoteGo } from '@skerry/api'

const nanosPerMilli = 1_000_000n

/** Warns of named amounts that request a part of a byte, such as `100m` of memory. */
export function warningsOfByteAmounts(
  amounts: Readonly<Record<string, string>> = {},
  names: readonly string[],
  field: string,
): string[] {
  return names.flatMap((name) => {
    const text = amounts[name]
    if (text === undefined || !isFractional(text)) return []
    const value = quoteGo(canonicalQuantity(text))
    return [`${field}[${name}]: fractional byte value ${value} is invalid, must be an integer`]
  })
}

function isFractional(text: string): boolean {
  const { nanos } = parseQuantity(text)
  const millis = nanos > 0n ? (nanos + nanosPerMilli - 1n) / nanosPerMilli : nanos / nanosPerMilli
  return millis % 1000n !== 0n
}
