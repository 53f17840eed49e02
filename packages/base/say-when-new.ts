/**
 * Returns a function that says each item of a list that the list before did not have: a state that is looked at again and
 * again is reported once for as long as it lasts. Items are the same if their JSON is.
 */
export function sayWhenNew<T>(say: (item: T) => void): (items: readonly T[]) => void {
  let said: ReadonlySet<string> = new Set()
  return (items) => {
    const now = new Map(items.map((item) => [JSON.stringify(item), item]))
    for (const [key, item] of now) if (!said.has(key)) say(item)
    said = new Set(now.keys())
  }
}
