import { createHash } from 'node:crypto'
import { isJsonObject, memberOf, type AnyObject } from '@skerry/api'
import { karmadaKeys, ownershipAnnotations, ownershipLabels } from '@skerry/karmada-kinds'

/**
 * Prefix of annotations of an object that virtual clusters share, one of each that wants it:
 * `shared-by.edge.skerry.io/east: 1f0c…`, a hash of what it wants. Each writes its own alone, so that
 * many may come and go at once.
 */
const sharerPrefix = 'shared-by.edge.skerry.io/'
/** Annotation: the hash of what the object is. It changes when all of them want the same. */
const contentAnnotation = 'edge.skerry.io/shared-content'
const hashChars = 12

/** Virtual clusters that share an object, with the hash of what each wants. */
export type Sharers = ReadonlyMap<string, string>

/** Empty of an object that is not shared, and of one that the last has just left. */
export function sharersOf({ metadata }: AnyObject): Sharers {
  const own = Object.entries(metadata.annotations ?? {}).flatMap(([key, hash]) =>
    key.startsWith(sharerPrefix) ? [[key.slice(sharerPrefix.length), hash] as const] : [],
  )
  return new Map(own)
}

/** Hash of what a shared object is; empty of one that is not shared. */
export function contentOf({ metadata }: AnyObject): string {
  return metadata.annotations?.[contentAnnotation] ?? ''
}

export function isSharingKey(annotation: string): boolean {
  return annotation === contentAnnotation || annotation.startsWith(sharerPrefix)
}

/** A merge patch that says what a virtual cluster wants of an object; null: nothing any more. */
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

/** Says that it is shared, and by whom, and no more: enough to find it. Takes no hash of what may be large. */
export function sharedPlace(manifest: AnyObject, cluster: string): AnyObject {
  const annotations = { [`${sharerPrefix}${cluster}`]: '', [contentAnnotation]: 'unknown' }
  return { ...manifest, metadata: { ...manifest.metadata, annotations } }
}

/** Another version of it differs in more than in who shares it. */
export function sharedVersion(observed: AnyObject): string {
  const { labels = {}, annotations = {} } = observed.metadata
  const kept = Object.entries(annotations).filter(([key]) => !isSharingKey(key))
  return hashOf({ ...observed, metadata: { labels, annotations: Object.fromEntries(kept) } })
}

/**
 * Whether an object is already what is wanted; what its cluster fills in beside is no difference. Many who
 * come to share it need not write it then, each with what the others have just written in their way.
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

/** Without whose Work brought it, which differs for each that shares it. */
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

/** Equal objects are equal texts, in whichever order their fields came. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1))
  return Object.fromEntries(entries.map(([key, each]) => [key, inOrder(each)]))
}
