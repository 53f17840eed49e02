import { createHash } from 'node:crypto'
import { isJsonObject } from '@skerry/api'

/** Returns the same 16 hexadecimal digits for the same content, whatever the order of its fields. */
export function contentHash(content: unknown): string {
  return createHash('sha256').update(sortedText(content)).digest('hex').slice(0, 16)
}

function sortedText(content: unknown): string {
  return JSON.stringify(content, (_key, value: unknown) =>
    isJsonObject(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )
}
