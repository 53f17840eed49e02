/**
 * Returns true if replacing `known` with `next` would change nothing for a reader. Zero values
 * equal omitted ones, because servers leave them out.
 */
export function sameStatus(known: unknown, next: unknown): boolean {
  if (isAbsent(known) || isAbsent(next)) return isAbsent(known) && isAbsent(next)
  if (typeof known !== 'object' || typeof next !== 'object' || known === null || next === null) {
    return known === next
  }
  if (Array.isArray(known) !== Array.isArray(next)) return false
  const names = new Set([...Object.keys(known), ...Object.keys(next)])
  for (const name of names) {
    if (!sameStatus(Reflect.get(known, name), Reflect.get(next, name))) return false
  }
  return true
}

function isAbsent(value: unknown): boolean {
  if (value === undefined || value === null || value === 0 || value === '' || value === false) {
    return true
  }
  if (Array.isArray(value)) return value.length === 0
  return typeof value === 'object' && Object.values(value).every(isAbsent)
}
