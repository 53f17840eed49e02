import { createHash } from 'node:crypto'
import { isJsonObject, type AnyObject } from '@skerry/api'
import { karmadaKeys, ownershipAnnotations, ownershipLabels } from '../../work/karmada-keys.ts'

/**
 * Annotation of an object that virtual clusters share: which of them want it, and a hash of what each
 * wants, `east=1f0c…,west=1f0c…`. It changes when all of them want the same, and goes with the last.
 */
export const sharedByAnnotation = 'edge.skerry.io/shared-by'
/** Annotation: the hash of what it is. */
const contentAnnotation = 'edge.skerry.io/shared-content'
export const sharingAnnotations: readonly string[] = [sharedByAnnotation, contentAnnotation]

const hashChars = 12

/** Virtual clusters that share an object, with the hash of what each wants; empty of any other object. */
export type Sharers = ReadonlyMap<string, string>

export function sharersOf({ metadata }: AnyObject): Sharers {
  const text = metadata.annotations?.[sharedByAnnotation] ?? ''
  return new Map(
    text.split(',').flatMap((entry): [string, string][] => {
      const [cluster = '', hash] = entry.split('=')
      return hash === undefined ? [] : [[cluster, hash]]
    }),
  )
}

export function sharersText(sharers: Sharers): string {
  const entries = [...sharers].toSorted(([left], [right]) => (left < right ? -1 : 1))
  return entries.map(([cluster, hash]) => `${cluster}=${hash}`).join(',')
}

/** The manifest as any virtual cluster would send it, wanted by this one. */
export function sharedManifest(manifest: AnyObject, cluster: string): AnyObject {
  const labels = without(manifest.metadata.labels, ownershipLabels)
  const annotations = without(manifest.metadata.annotations, [
    ...ownershipAnnotations,
    ...sharingAnnotations,
  ])
  labels[karmadaKeys.managed] = 'true'
  annotations[karmadaKeys.managedLabels] = Object.keys(labels).toSorted().join(',')
  annotations[karmadaKeys.managedAnnotations] = Object.keys(annotations).toSorted().join(',')
  const bare = { ...manifest, metadata: { ...manifest.metadata, labels, annotations } }
  const hash = hashOf(bare)
  return withSharers(bare, { sharers: new Map([[cluster, hash]]), content: hash })
}

export function contentOf({ metadata }: AnyObject): string {
  return metadata.annotations?.[contentAnnotation] ?? ''
}

export function withSharers(
  object: AnyObject,
  { sharers, content }: { readonly sharers: Sharers; readonly content: string },
): AnyObject {
  const annotations = {
    ...object.metadata.annotations,
    [sharedByAnnotation]: sharersText(sharers),
    [contentAnnotation]: content,
  }
  return { ...object, metadata: { ...object.metadata, annotations } }
}

function without(texts: Readonly<Record<string, string>> = {}, keys: readonly string[]) {
  return Object.fromEntries(Object.entries(texts).filter(([key]) => !keys.includes(key)))
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
