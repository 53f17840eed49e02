import { isJsonObject, memberOf, type JsonObject } from '@skerry/api'
import type { FieldOperation, Overriders, PlaintextOverrider } from '@skerry/karmada-kinds'
import type { AppliedOverride } from './apply-overrides.ts'
import { escapeHtml } from './escape-html.ts'

/** The annotations of a Work that list the overriders applied to its manifest, for policies of either scope. */
export const appliedOverrideKeys = Object.freeze({
  own: 'policy.karmada.io/applied-overrides',
  everywhere: 'policy.karmada.io/applied-cluster-overrides',
})

/** Returns the annotations that Karmada's tools read on a Work; none if nothing was changed. */
export function appliedOverrideAnnotations(
  applied: readonly AppliedOverride[],
): Record<string, string> {
  const own = applied.filter(({ namespace }) => namespace !== undefined)
  const everywhere = applied.filter(({ namespace }) => namespace === undefined)
  return {
    ...(own.length > 0 ? { [appliedOverrideKeys.own]: textOf(own) } : {}),
    ...(everywhere.length > 0 ? { [appliedOverrideKeys.everywhere]: textOf(everywhere) } : {}),
  }
}

/** Sorts by policy name and keeps the order of each policy's rules. */
function textOf(applied: readonly AppliedOverride[]): string {
  const items = applied
    .toSorted((a, b) => (a.policy < b.policy ? -1 : a.policy > b.policy ? 1 : 0))
    .map(({ policy, overriders }) => ({ policyName: policy, overriders: inFieldOrder(overriders) }))
  return escapeHtml(JSON.stringify(items))
}

/** The members of an overrider, in the order in which Karmada writes them. */
const members: Readonly<Record<keyof Overriders, readonly string[]>> = Object.freeze({
  plaintext: ['path', 'operator', 'value'],
  imageOverrider: ['predicate', 'component', 'operator', 'value'],
  commandOverrider: ['containerName', 'operator', 'value'],
  argsOverrider: ['containerName', 'operator', 'value'],
  labelsOverrider: ['operator', 'value'],
  annotationsOverrider: ['operator', 'value'],
  fieldOverrider: ['fieldPath', 'json', 'yaml'],
})

/**
 * Sorts the fields, so that the text depends on the policy's content and not on the order in which it was
 * written.
 */
function inFieldOrder({ fieldOverrider = [], plaintext = [], ...others }: Overriders): JsonObject {
  const all: Overriders = {
    plaintext: plaintext.map(withValue),
    ...others,
    fieldOverrider: fieldOverrider.map((each) => ({
      ...each,
      ...(each.json ? { json: each.json.map((operation) => operationOf(operation)) } : {}),
      ...(each.yaml ? { yaml: each.yaml.map((operation) => operationOf(operation)) } : {}),
    })),
  }
  const entries = Object.entries(members).flatMap(([field, order]) => {
    const list: unknown = memberOf({ ...all }, field)
    if (!Array.isArray(list) || list.length === 0) return []
    return [[field, list.map((item) => ordered(item, order))] as const]
  })
  return Object.fromEntries(entries)
}

function operationOf({ subPath, operator, value }: FieldOperation): FieldOperation {
  return { subPath, operator, value: value ?? null }
}

/** The value may be any JSON; a missing one is written as null. */
function withValue(overrider: PlaintextOverrider): PlaintextOverrider {
  return { ...overrider, value: overrider.value ?? null }
}

function ordered(item: unknown, order: readonly string[]): unknown {
  if (!isJsonObject(item)) return item
  return Object.fromEntries(
    order.flatMap((member) => {
      const value = memberOf(item, member)
      if (value === undefined) return []
      // Sorts labels and annotations, as Go does.
      const isMap = member === 'value' && order.length === 2 && isJsonObject(value)
      return [[member, isMap ? sorted(value) : value] as const]
    }),
  )
}

function sorted(map: JsonObject): JsonObject {
  const keys = Object.keys(map).toSorted()
  return Object.fromEntries(keys.map((key) => [key, map[key]]))
}
