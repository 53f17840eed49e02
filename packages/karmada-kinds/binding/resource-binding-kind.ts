import { fieldInvalid, type AnyObject, type StatusCause } from '@skerry/api'
import { textAt } from '@skerry/fleet-kinds'
import { setPermanentId, type KindRules } from '../rules/kind-rules.ts'

/** The annotation of a binding that lists its object's dependencies, as a JSON list of references. */
export const dependenciesKey = 'resourcebinding.karmada.io/dependencies'

/** The rules of ResourceBinding and ClusterResourceBinding. */
export const bindingRules: KindRules = Object.freeze({
  prepare(next, { newUid }, isCreate) {
    const label = `${next.kind.toLowerCase()}.karmada.io/permanent-id`
    if (isCreate && !next.metadata.labels?.[label]) setPermanentId(next, label, newUid())
  },
  validate: (next) => [...ownerCauses(next), ...dependencyCauses(next)],
} satisfies KindRules)

/**
 * Requires that the object is in the binding's own namespace, because the hub reads it with its own rights. A
 * reference without a namespace is accepted, as in Karmada, and refused when it is propagated.
 */
function ownerCauses(object: AnyObject): StatusCause[] {
  const own = object.metadata.namespace ?? ''
  const namespace = textAt(object, 'spec', 'resource', 'namespace')
  if (namespace === '' || namespace === own) return []
  const why = 'must be the namespace of the binding'
  return [fieldInvalid('spec.resource.namespace', namespace, why)]
}

function dependencyCauses({ kind, metadata }: AnyObject): StatusCause[] {
  const text = metadata.annotations?.[dependenciesKey]
  if (kind !== 'ResourceBinding' || text === undefined || isList(text)) return []
  const field = `metadata.annotations.${dependenciesKey}`
  return [fieldInvalid(field, text, 'annotation value must be a valid JSON')]
}

function isList(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return value === null || Array.isArray(value)
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}
