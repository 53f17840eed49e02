import { isJsonObject, type JsonObject } from '@skerry/api'
import { textsAt } from '@skerry/fleet-kinds'
import { karmadaKeys, ownershipAnnotations, ownershipLabels } from '@skerry/karmada-kinds'

export const selectedNodeAnnotation = 'volume.kubernetes.io/selected-node'

type Rule = (object: JsonObject) => JsonObject

/**
 * Strips labels and annotations from kinds on which they are orders to controllers and nodes of the whole
 * edge. The owner's label stays. Keys are group and kind.
 */
export const wordless: Readonly<Record<string, Rule>> = Object.freeze({
  // An annotation names the Secret with which its driver deletes it, and a label makes a node create and
  // remove directories.
  '/PersistentVolume': (volume) => without(volume, ['labels', 'annotations']),
  // The scheduler sets this annotation to have a node provision the volume. Policies of the edge check claims
  // that others create.
  '/PersistentVolumeClaim': (claim) => withoutAnnotation(claim, selectedNodeAnnotation),
  // An aggregated role of the edge could select any label, and would then gain these rules.
  'rbac.authorization.k8s.io/ClusterRole': (role) => without(role, ['labels']),
})

const kept: ReadonlySet<string> = new Set([
  ...ownershipLabels,
  ...ownershipAnnotations,
  karmadaKeys.conflictResolution,
])

function without(object: JsonObject, fields: readonly ('labels' | 'annotations')[]): JsonObject {
  const { metadata } = object
  if (!isJsonObject(metadata)) return object
  const left = fields.flatMap((field) => {
    const texts = Object.entries(textsAt(metadata, field))
    if (texts.length === 0) return []
    return [[field, Object.fromEntries(texts.filter(([key]) => kept.has(key)))]]
  })
  return { ...object, metadata: { ...metadata, ...Object.fromEntries(left) } }
}

function withoutAnnotation(object: JsonObject, annotation: string): JsonObject {
  const annotations = textsAt(object, 'metadata', 'annotations')
  const { metadata } = object
  if (!isJsonObject(metadata) || !Object.hasOwn(annotations, annotation)) return object
  const { [annotation]: _order, ...left } = annotations
  return { ...object, metadata: { ...metadata, annotations: left } }
}
