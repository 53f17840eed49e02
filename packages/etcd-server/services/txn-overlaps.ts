import { isEmptyRange, textOfKey, type KeyRange } from '../engine/key-range.ts'

/** A part of a transaction, with the keys that it puts, as texts of their bytes, and the ranges that it deletes. */
export interface TxnPart {
  readonly puts: ReadonlySet<string>
  readonly deletes: readonly KeyRange[]
}

type Mark = readonly [key: string, order: number, part: number]

/** The order of marks at one key: a range ends before its end, and has its first key. */
const orders = Object.freeze({ end: 0, begin: 1, put: 2 })

/**
 * Returns true if one part puts a key that another part deletes. Goes over all keys once in their order, because a
 * request of etcd's size may have tens of thousands of both.
 */
export function hasOverlap(parts: readonly TxnPart[]): boolean {
  if (parts.every(({ deletes }) => deletes.length === 0)) return false
  const open = parts.map(() => 0)
  let openOfAll = 0
  for (const [, order, part] of marksOf(parts)) {
    if (order === orders.put) {
      if (openOfAll > (open[part] ?? 0)) return true
      continue
    }
    const change = order === orders.begin ? 1 : -1
    open[part] = (open[part] ?? 0) + change
    openOfAll += change
  }
  return false
}

function marksOf(parts: readonly TxnPart[]): Mark[] {
  const marks: Mark[] = []
  for (const [part, { puts, deletes }] of parts.entries()) {
    for (const key of puts) marks.push([key, orders.put, part])
    for (const range of deletes) {
      if (isEmptyRange(range)) continue
      marks.push([textOfKey(range.from), orders.begin, part])
      if (range.until) marks.push([textOfKey(range.until), orders.end, part])
    }
  }
  return marks.toSorted(([a, first], [b, second]) => (a < b ? -1 : a > b ? 1 : first - second))
}
