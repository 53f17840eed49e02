import { isJsonObject, memberOf, type AnyObject, type JsonObject } from '@skerry/api'

/** What stands at a path of members; undefined where a step of it is missing. */
export function fieldAt(object: unknown, ...path: readonly string[]): unknown {
  let found = object
  for (const step of path) {
    if (!isJsonObject(found)) return undefined
    found = memberOf(found, step)
  }
  return found
}

/** Empty where there is no text. */
export function textAt(object: unknown, ...path: readonly string[]): string {
  const found = fieldAt(object, ...path)
  return typeof found === 'string' ? found : ''
}

/** 0 where there is no number, as of a field that Kubernetes leaves out. */
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

/** A copy in which this value stands at the path; objects that are missing on the way are made. */
export function withField(object: AnyObject, path: readonly string[], value: unknown): AnyObject {
  // What stood at the top of an object still does: only a member below it is another one.
  return changed(object, path, value) as AnyObject
}

/** A copy without what stands at the path. An object that becomes empty by it stays. */
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
  // In its old place, as people read objects from the top.
  return isJsonObject(object) && step in object
    ? { ...object, [step]: next }
    : { ...others, [step]: next }
}

/** `apps/v1 Deployment`: under which tables of interpreters have a kind. */
export function kindKey({ apiVersion, kind }: Pick<AnyObject, 'apiVersion' | 'kind'>): string {
  return `${apiVersion} ${kind}`
}
