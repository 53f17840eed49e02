import { isJsonObject, meetsRequirement, memberOf, type JsonObject } from '@skerry/api'
import { fieldAt, objectsAt, textAt } from '@skerry/fleet-kinds'

/** The labels that every node of a group has: a pod that wants another value would wait forever. */
export type NodeLabels = Readonly<Record<string, string>>

/**
 * Describes the part of a pod's node selector or required node affinity that no node with these labels meets,
 * in words that follow "it". Returns undefined if a node may meet it. Terms of an affinity are ORed: each
 * must be impossible.
 */
export function contradictionOf(spec: JsonObject, labels: NodeLabels): string | undefined {
  return ofSelector(spec, labels) ?? ofAffinity(spec, labels)
}

function ofSelector(spec: JsonObject, labels: NodeLabels): string | undefined {
  const selector = spec['nodeSelector']
  if (!isJsonObject(selector)) return undefined
  for (const [key, own] of Object.entries(labels)) {
    const asked = memberOf(selector, key) ?? own
    if (asked !== own) return `selects nodes with ${key}: ${JSON.stringify(asked)}`
  }
  return undefined
}

function ofAffinity(spec: JsonObject, labels: NodeLabels): string | undefined {
  const terms = objectsAt(
    spec,
    'affinity',
    'nodeAffinity',
    'requiredDuringSchedulingIgnoredDuringExecution',
    'nodeSelectorTerms',
  )
  const unmet = terms.map((term) =>
    objectsAt(term, 'matchExpressions').find((each) => isUnmet(each, labels)),
  )
  const [first] = unmet
  if (first === undefined || unmet.includes(undefined)) return undefined
  const { key, operator, values = [] } = first
  return `requires nodes with ${String(key)} ${String(operator)} ${JSON.stringify(values)}`
}

function isUnmet(expression: JsonObject, labels: NodeLabels): boolean {
  const key = textAt(expression, 'key')
  const own = Object.hasOwn(labels, key) ? labels[key] : undefined
  if (own === undefined) return false
  const values = fieldAt(expression, 'values')
  const wanted = Array.isArray(values) ? values.map(String) : []
  return !meetsRequirement({ key, operator: textAt(expression, 'operator'), values: wanted }, own)
}
