import { isJsonObject, recursionMax } from '@skerry/api'

/** Formats decoded JSON like Go's %v. Parts that nest deeper than the stack allows are left out. */
export function printGo(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value
  if (value === null) return '<nil>'
  if (typeof value !== 'object') return JSON.stringify(value)
  if (depth > recursionMax) return '...'
  if (Array.isArray(value)) return `[${value.map((item) => printGo(item, depth + 1)).join(' ')}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `map[${members.map(([key, member]) => `${key}:${printGo(member, depth + 1)}`).join(' ')}]`
}

/** Returns Go's %T of a decoded JSON value. */
export function goTypeOf(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}'
  if (isJsonObject(value)) return 'map[string]interface {}'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  return typeof value === 'boolean' ? 'bool' : value === null ? '<nil>' : typeof value
}
