/** Sorts a map as Go prints it. */
export function inKeyOrder(map: Readonly<Record<string, string>>): Record<string, string> {
  const keys = Object.keys(map).toSorted((first, second) => (first < second ? -1 : 1))
  return Object.fromEntries(keys.map((key) => [key, map[key] ?? '']))
}
