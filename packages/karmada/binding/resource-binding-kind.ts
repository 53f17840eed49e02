import { fieldInvalid, type AnyObject, type StatusCause } from '@skerry/api'
import { setPermanentId, type KindRules } from '../kinds/kind-rules.ts'

/** Annotation of a binding: what its object needs beside itself, a JSON list of references. */
export const dependenciesKey = 'resourcebinding.karmada.io/dependencies'

/** Of ResourceBinding and ClusterResourceBinding. */
export const bindingRules: KindRules = Object.freeze({
  prepare(next, { newUid }, isCreate) {
    const label = `${next.kind.toLowerCase()}.karmada.io/permanent-id`
    if (isCreate && !next.metadata.labels?.[label]) setPermanentId(next, label, newUid())
  },
  validate: dependencyCauses,
} satisfies KindRules)

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
