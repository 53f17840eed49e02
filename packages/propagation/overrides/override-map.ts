import type { AnyObject } from '@skerry/api'
import type { MapOverrider } from '@skerry/karmada-kinds'

/** Applies an overrider to labels or annotations: missing keys are neither replaced nor removed. */
export function withMapOverridden(
  object: AnyObject,
  field: 'labels' | 'annotations',
  { operator, value }: MapOverrider,
): AnyObject {
  const old = object.metadata[field]
  const entries = Object.entries(value)
  const named = entries.filter(([key]) => operator === 'add' || Object.hasOwn(old ?? {}, key))
  if (named.length === 0) return object
  const texts =
    operator === 'remove'
      ? Object.fromEntries(Object.entries(old ?? {}).filter(([key]) => !Object.hasOwn(value, key)))
      : { ...old, ...Object.fromEntries(named) }
  return { ...object, metadata: { ...object.metadata, [field]: texts } }
}
