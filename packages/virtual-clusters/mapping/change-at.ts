import { isJsonObject, type JsonObject } from '@skerry/api'

type Change = (value: unknown) => unknown

/**
 * Returns a copy with `change` applied to the value at the path. Steps are separated by dots; `*` stands for
 * each element of a list or map. If a step does not exist, nothing changes.
 */
export function changeAt(object: JsonObject, path: string, change: Change): JsonObject {
  // Only values below the object change; the object itself remains one.
  return changed(object, path === '' ? [] : path.split('.'), change) as JsonObject
}

function changed(value: unknown, steps: readonly string[], change: Change): unknown {
  const [step, ...rest] = steps
  if (step === undefined) return change(value)
  if (Array.isArray(value)) {
    return step === '*' ? value.map((each: unknown) => changed(each, rest, change)) : value
  }
  if (!isJsonObject(value)) return value
  if (step === '*') {
    const entries = Object.entries(value)
    return Object.fromEntries(entries.map(([key, each]) => [key, changed(each, rest, change)]))
  }
  if (!Object.hasOwn(value, step)) return value
  return { ...value, [step]: changed(value[step], rest, change) }
}

/** Changes texts that are not empty, and leaves other values for the API server to check. */
export function ofText(change: (text: string) => string): Change {
  return (value) => (typeof value === 'string' && value !== '' ? change(value) : value)
}

/** The same of objects. */
export function ofObject(change: (object: JsonObject) => JsonObject): Change {
  return (value) => (isJsonObject(value) ? change(value) : value)
}

/** Returns the texts at the path, with the steps of `changeAt`. */
export function textsOfPath(object: JsonObject, path: string): string[] {
  return valuesAt(object, path).filter((value) => typeof value === 'string')
}

/** Returns all values at the path, with the steps of `changeAt`. */
export function valuesAt(object: JsonObject, path: string): unknown[] {
  let found: unknown[] = [object]
  for (const step of path.split('.')) {
    found = found.flatMap((value): unknown[] => {
      if (Array.isArray(value)) return step === '*' ? value : []
      if (!isJsonObject(value)) return []
      if (step === '*') return Object.values(value)
      return Object.hasOwn(value, step) ? [value[step]] : []
    })
  }
  return found
}
