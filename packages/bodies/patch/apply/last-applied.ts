import { encodeSorted } from '../../encoding/canonical.ts'
import { byteLength, isJsonObject, objectMetaLimits, type AnyObject } from '@skerry/api'
import { compareObjects } from './compare.ts'
import { differenceOf, type FieldSet } from './field-set.ts'
import type { OwnedType } from './managers.ts'
import { ownedFields } from './owned-fields.ts'

/** The annotation in which kubectl's client-side apply stores its configuration. */
const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration'

/**
 * Returns fields that kubectl's client-side apply set and that still have that value: `kubectl
 * apply --server-side` may take over those without force. Returns undefined if there is no such
 * record.
 */
export function allowedByLastApplied(
  live: AnyObject,
  apiVersion: string,
  type: OwnedType,
): FieldSet | undefined {
  const text = live.metadata.annotations?.[lastAppliedAnnotation]
  if (!text) return undefined
  const lastApplied = parse(text)
  if (!isJsonObject(lastApplied) || lastApplied['apiVersion'] !== apiVersion) return undefined
  const { added, modified, removed } = compareObjects(lastApplied, live, type)
  const owned = ownedFields(lastApplied, type.schema, type.schemas)
  return differenceOf(differenceOf(differenceOf(owned, modified), added), removed)
}

/** Updates the record of kubectl's client-side apply, so that users can switch back and forth. */
export function syncLastApplied(object: AnyObject, applied: AnyObject): void {
  const { annotations } = object.metadata
  if (!annotations?.[lastAppliedAnnotation]) return
  annotations[lastAppliedAnnotation] = `${encodeSorted(withoutRecord(applied))}\n`
  const bytes = Object.entries(annotations).reduce(
    (sum, [key, value]) => sum + byteLength(key) + byteLength(value),
    0,
  )
  if (bytes > objectMetaLimits.annotationsBytesMax) delete annotations[lastAppliedAnnotation]
}

function withoutRecord(applied: AnyObject): AnyObject {
  const { annotations } = applied.metadata
  if (annotations?.[lastAppliedAnnotation] === undefined) return applied
  const { [lastAppliedAnnotation]: _record, ...rest } = annotations
  return { ...applied, metadata: { ...applied.metadata, annotations: rest } }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
