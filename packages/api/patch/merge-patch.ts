import { cloneJson, isJsonObject, memberOf, setMember, type JsonObject } from '../json.ts'
import { StatusError } from '../status-error.ts'

/**
 * RFC 7386. Returns a new object; neither argument changes. Throws StatusError BadRequest when the
 * patch is no object.
 */
export function applyMergePatch(original: Readonly<JsonObject>, patch: unknown): JsonObject {
  if (!isJsonObject(patch)) {
    throw new StatusError('BadRequest', 'error decoding patch: a merge patch is an object')
  }
  return merge(cloneJson(original), patch)
}

/** Changes and returns `target`; what is taken from the patch is copied. */
function merge(target: JsonObject, patch: Readonly<JsonObject>): JsonObject {
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) {
      delete target[key]
    } else if (isJsonObject(value)) {
      const old = memberOf(target, key)
      setMember(target, key, merge(isJsonObject(old) ? old : {}, value))
    } else {
      setMember(target, key, cloneJson(value))
    }
  }
  return target
}
