import { isJsonObject, isStatusError, type JsonObject } from '@skerry/api'
import type { Child } from './child.ts'

/**
 * Returns the manifest without the fields that others have changed, by the causes of the server's conflict. Returns
 * undefined if the error is another one, or names no field of the manifest.
 */
export function withoutConflicts(manifest: Child, error: unknown): Child | undefined {
  if (!isStatusError(error, 'Conflict')) return undefined
  const fields = error.details?.causes?.map(({ field = '' }) => field) ?? []
  if (fields.length === 0) return undefined
  let rest: unknown = manifest
  for (const field of fields) rest = withoutField(rest, field)
  // Only fields below the object are taken out, so that it is still a child.
  return rest === manifest ? undefined : (rest as Child)
}

/** Takes out the field at a path in the form of server-side apply, e.g. `.spec.containers[name="c"].image`. */
function withoutField(value: unknown, path: string): unknown {
  if (path.startsWith('[') && Array.isArray(value)) return withoutItem(value, path)
  if (!path.startsWith('.') || !isJsonObject(value)) return value
  const rest = path.slice(1)
  // Keys of maps have dots of their own, so that the longest one that fits is meant.
  const [key] = Object.keys(value)
    .filter((each) => rest.startsWith(each) && /^(?:$|[.[])/.test(rest.slice(each.length)))
    .toSorted((a, b) => b.length - a.length)
  if (key === undefined) return value
  const { [key]: member, ...others } = value
  const deeper = rest.slice(key.length)
  return deeper === '' ? others : { ...others, [key]: withoutField(member, deeper) }
}

function withoutItem(items: readonly unknown[], path: string): unknown[] {
  const [text = '', selector = ''] = /^\[([^\]]*)\]/.exec(path) ?? []
  const keys = keysOf(selector)
  const deeper = path.slice(text.length)
  return items.flatMap((item) => {
    const isMeant =
      isJsonObject(item) && Object.entries(keys).every(([key, is]) => item[key] === is)
    if (!isMeant) return [item]
    return deeper === '' ? [] : [withoutField(item, deeper)]
  })
}

function keysOf(selector: string): JsonObject {
  const pairs = selector.matchAll(/(\w+)=("(?:[^"\\]|\\.)*"|\d+)/g)
  return Object.fromEntries([...pairs].map(([, key = '', is = '']) => [key, JSON.parse(is)]))
}
