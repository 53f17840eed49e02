import { createHash } from 'node:crypto'
import { isJsonObject, memberOf, type AnyObject } from '@skerry/api'
import { karmadaKeys, ownershipAnnotations, ownershipLabels } from '@skerry/karmada-kinds'

/**
 * The prefix of annotations on an object that virtual clusters share, one for each that wants it:
 * `shared-by.edge.skerry.io/east: 1f0c…`, a hash of the wanted content. Each cluster writes only its own, so
 * that many may come and go at once.
 */
const sharerPrefix = 'shared-by.edge.skerry.io/'
/** The annotation with the hash of the object's content. It changes when all sharers want the same. */
const contentAnnotation = 'edge.skerry.io/shared-content'
const hashChars = 12

/** The virtual clusters that share an object, with the hash of what each wants. */
export type Sharers = ReadonlyMap<string, string>

/** Returns none for an object that is not shared, or that the last sharer has just left. */
export function sharersOf({ metadata }: AnyObject): Sharers {
  const own = Object.entries(metadata.annotations ?? {}).flatMap(([key, hash]) =>
    key.startsWith(sharerPrefix) ? [[key.slice(sharerPrefix.length), hash] as const] : [],
  )
  return new Map(own)
}

/** Returns the hash of a shared object's content; an empty string if it is not shared. */
export function contentOf({ metadata }: AnyObject): string {
  return metadata.annotations?.[contentAnnotation] ?? ''
}

export function isSharingKey(annotation: string): boolean {
  return annotation === contentAnnotation || annotation.startsWith(sharerPrefix)
}

/** Returns a merge patch that records a virtual cluster's wish; null removes it. */
export function sharerPatch(cluster: string, hash: string | null): object {
  return { metadata: { annotations: { [`${sharerPrefix}${cluster}`]: hash } } }
}

/** The manifest as any virtual cluster would send it, wanted by this one. */
export function sharedManifest(manifest: AnyObject, cluster: string): AnyObject {
  const bare = unowned(manifest)
  const hash = hashOf(bare)
  const annotations = {
    ...bare.metadata.annotations,
    [`${sharerPrefix}${cluster}`]: hash,
    [contentAnnotation]: hash,
  }
  return { ...bare, metadata: { ...bare.metadata, annotations } }
}

/**
 * Marks a manifest as shared by this cluster, just enough to find the object. It avoids hashing content that
 * may be large.
 */
export function sharedPlace(manifest: AnyObject, cluster: string): AnyObject {
  const annotations = { [`${sharerPrefix}${cluster}`]: '', [contentAnnotation]: 'unknown' }
  return { ...manifest, metadata: { ...manifest.metadata, annotations } }
}

/** Returns a version that changes when more than the list of sharers does. */
export function sharedVersion(observed: AnyObject): string {
  const { labels = {}, annotations = {} } = observed.metadata
  const kept = Object.entries(annotations).filter(([key]) => !isSharingKey(key))
  return hashOf({ ...observed, metadata: { labels, annotations: Object.fromEntries(kept) } })
}

/**
 * Reports whether an object already has the wanted content; fields that its cluster fills in do not count.
 * Clusters that come to share the object then need not write it, and do not conflict with each other.
 */
export function isPresent(desired: AnyObject, observed: AnyObject): boolean {
  return contentOf(desired) === contentOf(observed) && contains(observed, desired)
}

function contains(there: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(there) || there.length !== wanted.length) return false
    return wanted.every((each, index) => contains(there[index], each))
  }
  if (!isJsonObject(wanted)) return there === wanted
  return (
    isJsonObject(there) &&
    Object.entries(wanted).every(([key, each]) => contains(memberOf(there, key), each))
  )
}

/** Removes the owning Work, which differs for each sharer. */
function unowned(manifest: AnyObject): AnyObject {
  const labels = without(manifest.metadata.labels, ownershipLabels)
  const annotations = without(manifest.metadata.annotations, ownershipAnnotations)
  labels[karmadaKeys.managed] = 'true'
  annotations[karmadaKeys.managedLabels] = Object.keys(labels).toSorted().join(',')
  annotations[karmadaKeys.managedAnnotations] = Object.keys(annotations).toSorted().join(',')
  return { ...manifest, metadata: { ...manifest.metadata, labels, annotations } }
}

function without(texts: Readonly<Record<string, string>> = {}, keys: readonly string[]) {
  return Object.fromEntries(
    Object.entries(texts).filter(([key]) => !keys.includes(key) && !isSharingKey(key)),
  )
}

function hashOf(object: AnyObject): string {
  const text = JSON.stringify(inOrder(object))
  return createHash('sha256').update(text).digest('hex').slice(0, hashChars)
}

/** Sorts the keys, so that equal objects give equal texts. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1))
  return Object.fromEntries(entries.map(([key, each]) => [key, inOrder(each)]))
}
