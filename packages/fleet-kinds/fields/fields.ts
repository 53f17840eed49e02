import { isJsonObject, memberOf, type AnyObject, type JsonObject } from '@skerry/api'

/** Returns the value at a path of members; undefined if a step is missing. */
export function fieldAt(object: unknown, ...path: readonly string[]): unknown {
  let found = object
  for (const step of path) {
    if (!isJsonObject(found)) return undefined
    found = memberOf(found, step)
  }
  return found
}

/** Returns an empty string if there is no text. */
export function textAt(object: unknown, ...path: readonly string[]): string {
  const found = fieldAt(object, ...path)
  return typeof found === 'string' ? found : ''
}

/** Returns 0 if there is no number, for example in a field that Kubernetes omits. */
export function countAt(object: unknown, ...path: readonly string[]): number {
  return numberAt(object, ...path) ?? 0
}

export function numberAt(object: unknown, ...path: readonly string[]): number | undefined {
  const found = fieldAt(object, ...path)
  return typeof found === 'number' ? found : undefined
}

/** The objects of a list; empty where there is none. */
export function objectsAt(object: unknown, ...path: readonly string[]): JsonObject[] {
  const found = fieldAt(object, ...path)
  return Array.isArray(found) ? found.filter((each) => isJsonObject(each)) : []
}

/** The texts of a map, as of labels; empty where there is none. */
export function textsAt(object: unknown, ...path: readonly string[]): Record<string, string> {
  const found = fieldAt(object, ...path)
  if (!isJsonObject(found)) return {}
  const texts = Object.entries(found).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  )
  return Object.fromEntries(texts)
}

/** Returns a copy with this value at the path; creates missing objects on the way. */
export function withField(object: AnyObject, path: readonly string[], value: unknown): AnyObject {
  // The top-level fields stay; only a member below them changes.
  return changed(object, path, value) as AnyObject
}

/** Returns a copy without the value at the path. An object that becomes empty stays. */
export function withoutField(object: AnyObject, path: readonly string[]): AnyObject {
  if (fieldAt(object, ...path) === undefined) return object
  return withField(object, path, undefined)
}

function changed(object: unknown, path: readonly string[], value: unknown): unknown {
  const [step, ...rest] = path
  if (step === undefined) return value
  const { [step]: old, ...others } = isJsonObject(object) ? object : {}
  const next = changed(old, rest, value)
  if (next === undefined) return others
  // The member keeps its old place, because people read objects from the top.
  return isJsonObject(object) && step in object
    ? { ...object, [step]: next }
    : { ...others, [step]: next }
}

/** Formats `apps/v1 Deployment`, the key of interpreters' tables. */
export function kindKey({ apiVersion, kind }: Pick<AnyObject, 'apiVersion' | 'kind'>): string {
  return `${apiVersion} ${kind}`
}
