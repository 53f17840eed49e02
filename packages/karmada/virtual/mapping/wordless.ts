import { isJsonObject, type JsonObject } from '@skerry/api'
import { textsAt } from '../../interpreter/fields.ts'
import { karmadaKeys, ownershipAnnotations, ownershipLabels } from '../../work/karmada-keys.ts'

type Rule = (object: JsonObject) => JsonObject

/**
 * Copies of objects without labels and annotations, where these are orders to controllers and nodes of the whole edge.
 * What says whose the object is stays. Keys are group and kind.
 */
export const wordless: Readonly<Record<string, Rule>> = Object.freeze({
  // Its driver deletes it with a secret that an annotation names, and a node makes and removes directories by a label.
  '/PersistentVolume': (volume) => without(volume, ['labels', 'annotations']),
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
