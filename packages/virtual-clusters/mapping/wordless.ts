import { isJsonObject, type JsonObject } from '@skerry/api'
import { textsAt } from '@skerry/fleet-kinds'
import { karmadaKeys, ownershipAnnotations, ownershipLabels } from '@skerry/karmada-kinds'

export const selectedNodeAnnotation = 'volume.kubernetes.io/selected-node'

type Rule = (object: JsonObject) => JsonObject

/**
 * Copies of objects without labels and annotations, where these are orders to controllers and nodes of the whole edge.
 * What says whose the object is stays. Keys are group and kind.
 */
export const wordless: Readonly<Record<string, Rule>> = Object.freeze({
  // Its driver deletes it with a secret that an annotation names, and a node makes and removes directories by a label.
  '/PersistentVolume': (volume) => without(volume, ['labels', 'annotations']),
  // By it the scheduler has a node make the volume. Claims that others make are held by the policies of the edge.
  '/PersistentVolumeClaim': (claim) => withoutAnnotation(claim, selectedNodeAnnotation),
  // Any label may be what an aggregated role of the edge selects, and would add the rules to that role.
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
