/**
 * Returns the index of the first byte that is not base64 (RFC 4648, padded), or -1. Line ends are
 * skipped.
 */
export function checkBase64(text: string): number {
  if (text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)) return -1
  const plain = text.replaceAll(/[\r\n]/g, '')
  const bad = /[^A-Za-z0-9+/]/.exec(plain)
  const at = bad?.index ?? plain.length
  if (plain.length % 4 === 0 && /^={0,2}$/.test(plain.slice(at))) return -1
  return bad === null || bad[0] === '=' ? Math.min(at, plain.length - (plain.length % 4)) : at
}

/**
 * Formats an RFC 3339 time as upstream: UTC, in whole seconds, or in microseconds with all six
 * digits. Returns undefined if the text is not a time.
 */
export function canonicalTime(text: string, isMicro = false): string | undefined {
  if (!isMicro && /^\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\dZ$/.test(text)) {
    return Number.isNaN(Date.parse(text)) ? undefined : text
  }
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:[.,](\d+))?(Z|[-+]\d\d:\d\d)$/.exec(text)
  if (!match || (isMicro && match[2]?.length !== 6)) return undefined
  const ms = Date.parse(`${match[1]}${match[3]}`)
  if (Number.isNaN(ms)) return undefined
  const seconds = new Date(ms).toISOString().slice(0, 19)
  return isMicro ? `${seconds}.${match[2]}Z` : `${seconds}Z`
}
