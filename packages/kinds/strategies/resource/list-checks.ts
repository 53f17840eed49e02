import { fieldDuplicate, fieldTooMany } from '@skerry/api'
import type { Found } from '../checks.ts'

type CheckItem<T> = (item: T, field: string, found: Found) => void

/** A list that is too long is not checked further. */
export function checkList<T>(
  items: readonly T[],
  { field, max }: { field: string; max: number },
  found: Found,
  checkItem: CheckItem<T>,
): boolean {
  if (items.length > max) {
    found.push(fieldTooMany(field, items.length, max))
    return false
  }
  for (const [at, item] of items.entries()) checkItem(item, `${field}[${at}]`, found)
  return true
}

/** Checks that items have distinct keys, after all items were checked. */
export function checkDistinct<T>(
  items: readonly T[],
  field: string,
  found: Found,
  keyOf: (item: T) => unknown,
): void {
  const seen = new Set<string>()
  for (const [at, item] of items.entries()) {
    const key = keyOf(item)
    const text = JSON.stringify(key)
    if (seen.has(text)) found.push(fieldDuplicate(`${field}[${at}]`, key))
    seen.add(text)
  }
}
