import { fieldForbidden, validateAnnotations, validateLabels, type ObjectMeta } from '@skerry/api'
import type { Found } from '../../checks.ts'
import type { Loose } from '../../typed-strategy.ts'

/** Fields that only the object itself may have, in upstream's order. */
const forbidden = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'ownerReferences',
  'finalizers',
  'managedFields',
] as const

/** Checks the metadata of a template from which objects get labels and annotations, and nothing else. */
export function checkTemplateMetadata(
  metadata: Loose<ObjectMeta>,
  path: string,
  found: Found,
): void {
  found.push(...validateAnnotations(metadata.annotations, `${path}.annotations`))
  found.push(...validateLabels(metadata.labels, `${path}.labels`))
  for (const name of forbidden) {
    const value = metadata[name]
    if (value === undefined || value === null) continue
    // Upstream derives the field's name from its Go name, whose first letter it lowers.
    const field = name === 'uid' ? 'uID' : name
    found.push(fieldForbidden(`${path}.${field}`, 'cannot be set'))
  }
}
