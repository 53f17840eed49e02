import { fnv1 } from '../pods/fnv.ts'
import { safeText } from '../pods/pod-template.ts'

/** The name that Kubernetes gives to data of a revision: FNV-1 over its JSON and the count of collisions. */
export function dataHash(data: Readonly<Record<string, unknown>>, collisionCount: number): string {
  return safeText(fnv1(Buffer.from(`${goJson(data)}${collisionCount}`)))
}

/** As Go writes a map: names in order, and characters that HTML knows escaped. */
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
