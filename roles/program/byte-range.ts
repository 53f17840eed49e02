import { programBounds } from './limits-table.ts'

const { rangeCharactersMax } = programBounds.programRoute

/** A part of a file: its first byte, and the byte after its last one. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/**
 * Returns the part that a Range field asks for (RFC 9110, section 14.2): undefined for the whole file, 'none' for a
 * part that is not there, and for several parts, of which anybody could ask for thousands.
 */
export function byteRange(
  field: string | undefined,
  bytes: number,
): ByteRange | 'none' | undefined {
  if (field === undefined) return undefined
  if (field.length > rangeCharactersMax || field.includes(',')) return 'none'
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(field.trim()) ?? []
  // Another unit, or a text that says nothing, means the whole file.
  if (first === '' && last === '') return undefined
  if (first === '') {
    const count = Math.min(Number(last), bytes)
    return count === 0 ? 'none' : { start: bytes - count, end: bytes }
  }
  const start = Number(first)
  if (last !== '' && Number(last) < start) return undefined
  if (start >= bytes) return 'none'
  return { start, end: last === '' ? bytes : Math.min(Number(last) + 1, bytes) }
}
