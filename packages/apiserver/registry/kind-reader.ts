import { encodeCanonical, type AnyObject, type Kind } from '@skerry/api'
import { CachedObject } from '../cache/cached-object.ts'
import type { Reader } from '../cache/selection.ts'
import { resourceKey } from '../cache/watch-cache.ts'
import { conversions } from './conversion-table.ts'

const utf8 = new TextEncoder()

/** One kind in one version, over objects that may be stored in another. */
export interface KindReader extends Reader {
  /** Where its objects are: `resourceKey` of the group that stores them. */
  readonly storage: string
  readonly apiVersion: string
  /** How many wire bytes stand before metadata: the brace, apiVersion and kind. */
  readonly headLength: number
  /** What clients of this version read: the cached bytes themselves where they are of this version. */
  wire(cached: CachedObject): Uint8Array
  /** Canonical bytes in the stored version. */
  encode(object: AnyObject): Uint8Array
  /** Frozen, for the server's own readers. */
  frozen(cached: CachedObject): AnyObject
}

export function createKindReader(kind: Kind): KindReader {
  const apiVersion = apiVersionOf(kind.group, kind.version)
  const storedApiVersion = apiVersionOf(kind.storageGroup ?? kind.group, kind.storageVersion)
  const conversion = conversions[`${apiVersion}/${kind.kind}`]
  const onRead = kind.strategy.onRead
  const head = utf8.encode(`{"apiVersion":${JSON.stringify(apiVersion)},`)
  const isOwn = (bytes: Uint8Array): boolean => onRead === undefined && startsWith(bytes, head)
  // Other versions and CRDs with defaults are made once per revision, while it is in the cache.
  const converted = new WeakMap<CachedObject, CachedObject>()
  const parse = (cached: CachedObject): AnyObject => {
    const object = cached.parse()
    if (object.apiVersion !== apiVersion) {
      conversion?.fromStorage(object)
      object.apiVersion = apiVersion
    }
    onRead?.(object)
    return object
  }
  const own = (cached: CachedObject): CachedObject => {
    if (isOwn(cached.bytes)) return cached
    const known = converted.get(cached)
    if (known) return known
    const made = new CachedObject(cached.key, {
      value: utf8.encode(encodeCanonical(parse(cached))),
      revision: cached.revision,
      createRevision: cached.createRevision,
    })
    converted.set(cached, made)
    return made
  }
  return {
    kind,
    apiVersion,
    headLength: head.length + utf8.encode(`"kind":${JSON.stringify(kind.kind)},`).length,
    storage: resourceKey(kind.storageGroup ?? kind.group, kind.resource),
    parse: (cached) => (isOwn(cached.bytes) ? cached.parse() : parse(cached)),
    wire: (cached) => own(cached).bytes,
    frozen: (cached) => own(cached).object,
    encode(object) {
      if (apiVersion === storedApiVersion) return utf8.encode(encodeCanonical(object))
      const stored = structuredClone(object)
      conversion?.toStorage(stored)
      stored.apiVersion = storedApiVersion
      return utf8.encode(encodeCanonical(stored))
    },
  }
}

export function apiVersionOf(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`
}

function startsWith(bytes: Uint8Array, head: Uint8Array): boolean {
  if (bytes.length < head.length) return false
  for (let at = 0; at < head.length; at += 1) if (bytes[at] !== head[at]) return false
  return true
}
