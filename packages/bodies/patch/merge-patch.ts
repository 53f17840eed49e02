import { wrongJsonType } from '../encoding/unreadable-body.ts'
import {
  StatusError,
  cloneJson,
  isJsonObject,
  memberOf,
  setMember,
  type JsonObject,
} from '@skerry/api'

/**
 * Applies a merge patch (RFC 7386). Returns a new object; neither argument changes. Throws
 * StatusError BadRequest if the patch is not an object.
 */
export function applyMergePatch(original: Readonly<JsonObject>, patch: unknown): JsonObject {
  if (!isJsonObject(patch)) {
    const detail = wrongJsonType(patch, 'value of type map[string]interface {}')
    const message = patch === null ? 'Invalid JSON Patch' : `error decoding patch: ${detail}`
    throw new StatusError('BadRequest', message)
  }
  return merge(cloneJson(original), patch)
}

/**
 * Changes and returns `target`. Parts of the patch are copied. There is no recursion, because
 * patches nest deeper than the stack allows.
 */
function merge(target: JsonObject, patch: Readonly<JsonObject>): JsonObject {
  const pending = [{ target, patch }]
  for (let next = pending.pop(); next; next = pending.pop()) {
    for (const [key, value] of Object.entries(next.patch)) {
      if (value === null) {
        delete next.target[key]
      } else if (isJsonObject(value)) {
        const old = memberOf(next.target, key)
        const below = isJsonObject(old) ? old : {}
        setMember(next.target, key, below)
        pending.push({ target: below, patch: value })
      } else {
        setMember(next.target, key, cloneJson(value))
      }
    }
  }
  return target
}
