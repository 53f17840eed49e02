import { isJsonObject } from '@skerry/api'
import { consoleBounds } from '../limits-table.ts'

/** A frame of a tab. */
export type TabFrame =
  | {
      readonly type: 'open'
      readonly id: number
      readonly path: string
      readonly isTable: boolean
      readonly resourceVersion: string | undefined
    }
  | { readonly type: 'close'; readonly id: number }
  | { readonly type: 'more'; readonly id: number; readonly credits: number }

const { pathCharsMax } = consoleBounds.watchesStream

/** Returns undefined if the text is not a frame of `skerry.watches.v1`. */
export function readTabFrame(text: string): TabFrame | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // Some other program's text.
    return undefined
  }
  if (!isJsonObject(value)) return undefined
  if ('open' in value) return readOpen(value)
  if ('close' in value)
    return isId(value['close']) ? { type: 'close', id: value['close'] } : undefined
  const { more: id, credits } = value
  if (!isId(id) || !isId(credits) || credits < 1) return undefined
  return { type: 'more', id, credits }
}

function readOpen(value: Readonly<Record<string, unknown>>): TabFrame | undefined {
  const { open: id, path, table = false, resourceVersion } = value
  if (!isId(id) || typeof path !== 'string' || typeof table !== 'boolean') return undefined
  if (path.length > pathCharsMax || !/^\/[\x21-\x7e]*$/.test(path) || path.includes('#')) {
    return undefined
  }
  const isRevision = typeof resourceVersion === 'string' && /^\d{1,20}$/.test(resourceVersion)
  if (resourceVersion !== undefined && !isRevision) return undefined
  const known = typeof resourceVersion === 'string' ? resourceVersion : undefined
  return { type: 'open', id, path, isTable: table, resourceVersion: known }
}

function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}
