import { isEmptyRange, keyRange, type KeyRange } from '../engine/key-range.ts'
import type { Permission } from '../engine/auth-table.ts'

export const permissionTypes = Object.freeze({ read: 0, write: 1, readWrite: 2 })

export interface PermittedRanges {
  /** In ascending order, without overlaps and without neighbours that touch. */
  readonly read: readonly KeyRange[]
  readonly write: readonly KeyRange[]
}

/** Returns the ranges that some permissions allow together. */
export function permittedRanges(permissions: readonly Permission[]): PermittedRanges {
  const { read, write, readWrite } = permissionTypes
  const rangesOf = (type: number): KeyRange[] =>
    permissions
      .filter(({ permType }) => permType === type || permType === readWrite)
      .map(({ key, rangeEnd }) => keyRange(key, rangeEnd))
  return { read: merged(rangesOf(read)), write: merged(rangesOf(write)) }
}

/** Returns true if each key of the range is permitted. */
export function isCovered(range: KeyRange, permitted: readonly KeyRange[]): boolean {
  if (isEmptyRange(range)) return false
  return permitted.some(
    ({ from, until }) => Buffer.compare(from, range.from) <= 0 && isEndWithin(range.until, until),
  )
}

function merged(ranges: readonly KeyRange[]): KeyRange[] {
  const result: KeyRange[] = []
  for (const range of ranges.toSorted((a, b) => Buffer.compare(a.from, b.from))) {
    const last = result.at(-1)
    const touches =
      last && (last.until === undefined || Buffer.compare(range.from, last.until) <= 0)
    if (!last || !touches) result.push(range)
    else if (!isEndWithin(range.until, last.until)) {
      result[result.length - 1] = { from: last.from, until: range.until, isOneKey: false }
    }
  }
  return result
}

/** An end that is undefined is after all keys. */
function isEndWithin(end: Uint8Array | undefined, most: Uint8Array | undefined): boolean {
  if (most === undefined) return true
  return end !== undefined && Buffer.compare(end, most) <= 0
}
