import { fnv1 } from '../pods/fnv.ts'
import { safeText } from '../pods/pod-template.ts'

/**
 * Returns the name that Kubernetes gives to a revision's data: FNV-1 over its JSON and the count of
 * collisions.
 */
export function dataHash(data: Readonly<Record<string, unknown>>, collisionCount: number): string {
  return safeText(fnv1(Buffer.from(`${goJson(data)}${collisionCount}`)))
}

/** Formats a map as Go does: sorted names, and HTML's special characters escaped. */
function goJson(data: unknown): string {
  return JSON.stringify(inOrder(data)).replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([name, field]) => [name, inOrder(field)]))
}
