import {
  everyLabelSelector,
  matchesFields,
  type AnyObject,
  type FieldRequirement,
  type Kind,
  type LabelSelector,
} from '@skerry/api'
import { selectableFieldValue } from '@skerry/kinds'
import type { CachedObject, SelectionFacts } from './cached-object.ts'

/** Selects the objects of a resource for a list or watch. Empty strings match any value. */
export interface Selection {
  readonly namespace: string
  readonly name: string
  readonly labels: LabelSelector
  readonly fields: readonly FieldRequirement[]
}

export const everything: Selection = Object.freeze({
  namespace: '',
  name: '',
  labels: everyLabelSelector,
  fields: Object.freeze([]),
})

/** Reads a cached object as one kind. Kinds that share a storage read it differently. */
export interface Reader {
  readonly kind: Kind
  /** Returns a private copy in the kind's own version. */
  parse(cached: CachedObject): AnyObject
}

/** Returns true if selectors, and not only names, decide. */
export function hasSelectors({ labels, fields }: Selection): boolean {
  return !labels.isEmpty || fields.length > 0
}

/**
 * Returns the place of all objects that can match, as ResourceCache.listen() takes it: one object's key, a namespace with a
 * slash, or an empty text for all.
 */
export function placeOf({ namespace, name, fields }: Selection, { isNamespaced }: Kind): string {
  const given = (field: string): string =>
    fields.find((term) => term.field === field && term.operator === '=')?.value ?? ''
  const ownName = name === '' ? given('metadata.name') : name
  if (!isNamespaced) return ownName
  const ownNamespace = namespace === '' ? given('metadata.namespace') : namespace
  return ownNamespace === '' ? '' : `${ownNamespace}/${ownName}`
}

export function selects(selection: Selection, cached: CachedObject, reader: Reader): boolean {
  const { namespace, name, labels, fields } = selection
  if (namespace !== '' && !cached.key.startsWith(`${namespace}/`)) return false
  if (name !== '' && cached.name !== name) return false
  if (!hasSelectors(selection)) return true
  const facts = factsOf(cached, reader)
  if (!labels.matches(facts.labels)) return false
  return matchesFields(fields, (field) => facts.fields[field] ?? '')
}

function factsOf(cached: CachedObject, reader: Reader): SelectionFacts {
  if (cached.facts?.owner === reader.kind) return cached.facts
  const object = reader.parse(cached)
  const fields: Record<string, string> = {
    'metadata.name': cached.name,
    'metadata.namespace': cached.namespace,
  }
  for (const field of reader.kind.selectableFields) {
    fields[field] = selectableFieldValue(reader.kind, field, object)
  }
  cached.facts = { owner: reader.kind, labels: object.metadata.labels ?? {}, fields }
  return cached.facts
}
