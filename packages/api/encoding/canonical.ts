import { isJsonObject } from '../json.ts'

const utf8 = new TextEncoder()

/**
 * The bytes' text of an object as it is stored: `{"apiVersion":…,"kind":…,"metadata":{…},…}` with
 * all other keys sorted, so that equal objects are equal bytes. It never carries
 * metadata.resourceVersion: the revision is the store's to say (spliceResourceVersion).
 */
export function encodeCanonical(object: {
  apiVersion: string
  kind: string
  metadata?: unknown
}): string {
  const metadata: unknown = object.metadata
  if (metadata !== undefined && !isJsonObject(metadata)) {
    throw new TypeError(`Cannot encode ${object.kind}: metadata is no object`)
  }
  let text = `{"apiVersion":${JSON.stringify(object.apiVersion)},"kind":${JSON.stringify(object.kind)}`
  text += `,"metadata":${encodeMembers(metadata ?? {}, '', (key) => key !== 'resourceVersion')}`
  return encodeMembers({ ...object }, text, isNotHead)
}

function isNotHead(key: string): boolean {
  return key !== 'apiVersion' && key !== 'kind' && key !== 'metadata'
}

/** Sorted members after `head` (an unfinished object, or nothing), closed. */
function encodeMembers(
  object: Readonly<Record<string, unknown>>,
  head: string,
  isWanted?: (key: string) => boolean,
): string {
  let text = head === '' ? '{' : head
  let separator = head === '' ? '' : ','
  for (const key of sortedKeys(object)) {
    const value = object[key]
    if (value === undefined || (isWanted && !isWanted(key))) continue
    text += `${separator}${JSON.stringify(key)}:${encodeSorted(value)}`
    separator = ','
  }
  return `${text}}`
}

/** JSON with the keys of every object sorted. */
export function encodeSorted(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (isJsonObject(value)) return encodeMembers(value, '')
  if (!Array.isArray(value)) return 'null'
  return `[${value.map((item) => encodeSorted(item)).join(',')}]`
}

/** Most maps come sorted already; checking that is cheaper than sorting. */
function sortedKeys(object: Readonly<Record<string, unknown>>): string[] {
  const keys = Object.keys(object)
  for (let at = 1; at < keys.length; at += 1) {
    if ((keys[at - 1] ?? '') > (keys[at] ?? '')) return keys.toSorted()
  }
  return keys
}

const openBrace = 0x7b
const closeBrace = 0x7d

/**
 * The wire bytes of stored bytes: metadata starts with `"resourceVersion":"N"`. One allocation and
 * one copy; the object is not parsed. `bytes` must come from encodeCanonical.
 */
export function spliceResourceVersion(bytes: Uint8Array, revision: number): Uint8Array {
  // apiVersion and kind are plain words, so that the second brace opens metadata.
  const at = bytes.indexOf(openBrace, 1) + 1
  if (at === 0) throw new RangeError('Cannot splice resourceVersion: the bytes have no metadata')
  const separator = bytes[at] === closeBrace ? '' : ','
  const inserted = utf8.encode(`"resourceVersion":"${revision}"${separator}`)
  const out = new Uint8Array(bytes.length + inserted.length)
  out.set(bytes.subarray(0, at))
  out.set(inserted, at)
  out.set(bytes.subarray(at), at + inserted.length)
  return out
}
