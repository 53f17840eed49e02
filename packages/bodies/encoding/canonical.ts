import { encodeDeep, isJsonObject, recursionMax, setMember, type JsonObject } from '@skerry/api'

const utf8 = new TextEncoder()

/**
 * Encodes an object for storage: `{"apiVersion":…,"kind":…,"metadata":{…},…}` with all other keys
 * in one order, so that equal objects have equal bytes. It never contains metadata.resourceVersion,
 * because the store assigns the revision (spliceResourceVersion).
 */
export function encodeCanonical(object: {
  apiVersion: string
  kind: string
  metadata?: unknown
}): string {
  const { apiVersion, kind, metadata = {} } = object
  if (!isJsonObject(metadata)) {
    throw new TypeError(`Cannot encode ${kind}: metadata is not an object`)
  }
  let text = `{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(kind)}`
  text += `,"metadata":${encodeSorted({ ...metadata, resourceVersion: undefined })}`
  for (const [key, value] of Object.entries(object).toSorted(byKey)) {
    if (value === undefined || key === 'apiVersion' || key === 'kind' || key === 'metadata')
      continue
    text += `,${JSON.stringify(key)}:${encodeSorted(value)}`
  }
  return `${text}}`
}

/** Encodes JSON with the keys of every object sorted (keys that are array indices first, as numbers). */
export function encodeSorted(value: unknown): string {
  const seen: Seen = { isDeep: false }
  const own = sorted(value, seen)
  return seen.isDeep ? encodeDeep(own) : (JSON.stringify(own) ?? 'null')
}

interface Seen {
  /** True if containers nest too deep for recursion. */
  isDeep: boolean
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Most objects are sorted already, and need no copy. */
function sorted(value: unknown, seen: Seen, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth > recursionMax) {
    seen.isDeep = true
    return sortedFromInside(value)
  }
  return sortedContainer(value, (member) => sorted(member, seen, depth + 1))
}

function sortedContainer(value: object, sortedOf: (member: unknown) => unknown): unknown {
  if (Array.isArray(value)) return sortedList(value, sortedOf)
  if (!isJsonObject(value)) return value
  const keys = Object.keys(value)
  let members: unknown[] | undefined
  let isSorted = true
  for (const [at, key] of keys.entries()) {
    if (at > 0 && (keys[at - 1] ?? '') > key) isSorted = false
    const member = value[key]
    const own = sortedOf(member)
    // Most objects are sorted, and need no copy.
    if (own !== member) members ??= keys.map((each) => value[each])
    if (members) members[at] = own
  }
  if (isSorted && !members) return value
  return sortedObject(keys, members ?? keys.map((each) => value[each]))
}

function sortedObject(keys: readonly string[], members: readonly unknown[]): JsonObject {
  const object: JsonObject = {}
  const entries = keys.map((key, at) => [key, members[at]] as const)
  for (const [key, member] of entries.toSorted(byKey)) setMember(object, key, member)
  return object
}

function sortedList(
  list: readonly unknown[],
  sortedOf: (member: unknown) => unknown,
): readonly unknown[] {
  let items: unknown[] | undefined
  for (const [at, item] of list.entries()) {
    const own = sortedOf(item)
    if (own !== item) items ??= [...list]
    if (items) items[at] = own
  }
  return items ?? list
}

/** Works without recursion: every container comes after those in it. */
function sortedFromInside(root: object): unknown {
  const containers: object[] = [root]
  for (const container of containers) {
    for (const member of Object.values(container)) {
      if (typeof member === 'object' && member !== null) containers.push(member)
    }
  }
  const done = new Map<unknown, unknown>()
  for (const container of containers.toReversed()) {
    done.set(
      container,
      sortedContainer(container, (member) => (done.has(member) ? done.get(member) : member)),
    )
  }
  return done.get(root)
}

const openBrace = 0x7b
const closeBrace = 0x7d

/**
 * Returns the wire bytes of stored bytes: metadata starts with `"resourceVersion":"N"`. Takes one
 * allocation and one copy; the object is not parsed. `bytes` must come from encodeCanonical.
 */
export function spliceResourceVersion(bytes: Uint8Array, revision: number | string): Uint8Array {
  // apiVersion and kind contain no braces, so the second brace opens metadata.
  const at = bytes.indexOf(openBrace, 1) + 1
  if (at === 0) throw new RangeError('Cannot splice resourceVersion: the bytes have no metadata')
  const separator = bytes[at] === closeBrace ? '' : ','
  const inserted = utf8.encode(`"resourceVersion":${JSON.stringify(String(revision))}${separator}`)
  const out = new Uint8Array(bytes.length + inserted.length)
  out.set(bytes.subarray(0, at))
  out.set(inserted, at)
  out.set(bytes.subarray(at), at + inserted.length)
  return out
}

/**
 * Returns the same wire bytes at another revision. `bytes` must come from spliceResourceVersion
 * with `from`.
 */
export function respliceResourceVersion(bytes: Uint8Array, from: number, to: number): Uint8Array {
  const at = bytes.indexOf(openBrace, 1) + 1
  const start = at + '"resourceVersion":"'.length
  const version = utf8.encode(String(to))
  const rest = bytes.subarray(start + String(from).length)
  const out = new Uint8Array(start + version.length + rest.length)
  out.set(bytes.subarray(0, start))
  out.set(version, start)
  out.set(rest, start + version.length)
  return out
}
