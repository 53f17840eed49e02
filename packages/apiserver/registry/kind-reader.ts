import { encodeCanonical } from '@skerry/bodies'
import { StatusError, type AnyObject, type Kind } from '@skerry/api'
import { CachedObject } from '../cache/cached-object.ts'
import type { Reader } from '../cache/selection.ts'
import { resourceKey } from '../cache/watch-cache.ts'
import { conversions } from './conversion-table.ts'
import { apiServerBounds } from '../limits-table.ts'

const utf8 = new TextEncoder()

/** Reads and writes one kind in one version, over objects that may be stored in another. */
export interface KindReader extends Reader {
  /** The storage key: `resourceKey` of the group that stores the objects. */
  readonly storage: string
  readonly apiVersion: string
  /** The number of wire bytes before metadata: the brace, apiVersion and kind. */
  readonly headLength: number
  /** Returns the bytes for clients of this version: the cached bytes themselves if they have this version. */
  wire(cached: CachedObject): Uint8Array
  /** Returns canonical bytes in the stored version. Cannot convert by webhook; see encodeStored. */
  encode(object: AnyObject): Uint8Array
  /** Does the same for every kind. Returns a promise only if a webhook converts. */
  encodeStored(object: AnyObject, signal: AbortSignal): Uint8Array | Promise<Uint8Array>
  /**
   * Only for kinds that a webhook converts: converts these objects, so that they can be parsed and
   * shown afterwards. All that are missing go in few requests. Throws StatusError with upstream's
   * words.
   */
  readonly prepare?: (cached: readonly CachedObject[], signal: AbortSignal) => Promise<void>
  /** Only for the same kinds: returns copies in another version. */
  readonly convertObjects?: ConvertObjects
  /** Returns a frozen object, for the server's own readers. */
  frozen(cached: CachedObject): AnyObject
}

/** Converts objects of one custom kind to another version, in their order. */
export type ConvertObjects = (
  objects: readonly AnyObject[],
  apiVersion: string,
  signal: AbortSignal,
) => Promise<readonly AnyObject[]>

const { convertedAtOnceMax } = apiServerBounds.kindReader

export function createKindReader(kind: Kind, convertObjects?: ConvertObjects): KindReader {
  const apiVersion = apiVersionOf(kind.group, kind.version)
  const storedApiVersion = apiVersionOf(kind.storageGroup ?? kind.group, kind.storageVersion)
  const conversion = conversions[`${apiVersion}/${kind.kind}`]
  const onRead = kind.strategy.onRead
  const head = utf8.encode(`{"apiVersion":${JSON.stringify(apiVersion)},`)
  const isOwn = (bytes: Uint8Array): boolean => onRead === undefined && startsWith(bytes, head)
  // Other versions, and defaults of CRDs, are computed once per revision while it is in the cache.
  const converted = new WeakMap<CachedObject, CachedObject>()
  const parse = (cached: CachedObject): AnyObject => {
    const object = converted.get(cached)?.parse() ?? cached.parse()
    const stored = object.apiVersion
    onRead?.(object, stored)
    if (stored === apiVersion) return object
    if (convertObjects) throw notPrepared(kind, cached)
    conversion?.fromStorage(object)
    object.apiVersion = apiVersion
    // Fields that only the stored version has are hidden in this one.
    kind.strategy.onDecode?.(object)
    return object
  }
  const own = (cached: CachedObject): CachedObject => {
    if (isOwn(cached.bytes)) return cached
    const known = converted.get(cached)
    if (known) return known
    const made = remade(cached, parse(cached))
    converted.set(cached, made)
    return made
  }
  const prepare = async (list: readonly CachedObject[], signal: AbortSignal): Promise<void> => {
    const missing = list.filter(
      (cached) => !startsWith(cached.bytes, head) && !converted.has(cached),
    )
    for (let at = 0; at < missing.length; at += convertedAtOnceMax) {
      const part = missing.slice(at, at + convertedAtOnceMax)
      const originals = part.map((cached) => cached.parse())
      const objects = (await convertObjects?.(originals, apiVersion, signal)) ?? []
      for (const [index, cached] of part.entries()) {
        const object = objects[index]
        if (!object) continue
        kind.strategy.onDecode?.(object)
        onRead?.(object, apiVersion)
        converted.set(cached, remade(cached, object))
      }
    }
  }
  const encode = (object: AnyObject): Uint8Array => {
    if (apiVersion === storedApiVersion) return utf8.encode(encodeCanonical(object))
    const stored = structuredClone(object)
    conversion?.toStorage(stored)
    stored.apiVersion = storedApiVersion
    return utf8.encode(encodeCanonical(stored))
  }
  return {
    kind,
    apiVersion,
    ...(convertObjects ? { prepare, convertObjects } : {}),
    headLength: head.length + utf8.encode(`"kind":${JSON.stringify(kind.kind)},`).length,
    storage: resourceKey(kind.storageGroup ?? kind.group, kind.resource),
    parse: (cached) => (isOwn(cached.bytes) ? cached.parse() : parse(cached)),
    wire: (cached) => own(cached).bytes,
    frozen: (cached) => own(cached).object,
    encode,
    encodeStored(object, signal) {
      if (!convertObjects || apiVersion === storedApiVersion) return encode(object)
      return encodeConverted(object, convertObjects, storedApiVersion, signal)
    },
  }
}

async function encodeConverted(
  object: AnyObject,
  convertObjects: ConvertObjects,
  apiVersion: string,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const [stored] = await convertObjects([object], apiVersion, signal)
  return utf8.encode(encodeCanonical(stored ?? object))
}

function remade(cached: CachedObject, object: AnyObject): CachedObject {
  const { key, revision, createRevision } = cached
  return new CachedObject(key, {
    value: utf8.encode(encodeCanonical(object)),
    revision,
    createRevision,
  })
}

/** The server's own readers do not wait for webhooks. */
function notPrepared({ group, version, resource }: Kind, { key }: CachedObject): StatusError {
  const name = `${resource}.${version}.${group}`
  const message = `Cannot read ${name} ${JSON.stringify(key)}: a webhook has to convert it first`
  return new StatusError('InternalError', message)
}

export function apiVersionOf(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`
}

function startsWith(bytes: Uint8Array, head: Uint8Array): boolean {
  if (bytes.length < head.length) return false
  for (let at = 0; at < head.length; at += 1) if (bytes[at] !== head[at]) return false
  return true
}
