/** An object as it is compared: on the hub, and as one cluster gets it. Pure. */
import { editableYaml } from '../../data/objects/editable-object.ts'

export interface ComparedObject {
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly [field: string]: unknown
}

/** Writes an object without its status and identity, and without the labels by which the fleet keeps its books. */
export function comparedYaml(object: ComparedObject): string {
  const { uid: _, ownerReferences: __, finalizers: ___, ...metadata } = object.metadata ?? {}
  const kept: Record<string, unknown> = { ...metadata }
  for (const key of ['labels', 'annotations']) {
    const own = ownEntries(metadata[key])
    if (own.length === 0) delete kept[key]
    else kept[key] = Object.fromEntries(own)
  }
  return editableYaml({ ...sorted(object), metadata: sorted(kept) })
}

function ownEntries(value: unknown): [string, unknown][] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).filter(([key]) => !/^(?:[\w.-]+\.)?karmada\.io\//.test(key))
}

const headFields = ['apiVersion', 'kind', 'metadata', 'name', 'namespace']

/** Fields in another order make no difference. */
function sorted(value: ComparedObject): ComparedObject {
  const rank = (key: string): number => {
    const at = headFields.indexOf(key)
    return at < 0 ? headFields.length : at
  }
  const entries = Object.entries(value).map(([key, member]): [string, unknown] => [
    key,
    sortedValue(member),
  ])
  return Object.fromEntries(
    entries.toSorted(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : a > b ? 1 : 0)),
  )
}

function sortedValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedValue)
  // An object that is not a list has fields.
  return typeof value === 'object' && value !== null ? sorted(value as ComparedObject) : value
}
