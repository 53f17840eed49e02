import { isJsonObject, type AnyObject, type JsonObject } from '@skerry/api'
import type { AggregatedStatusItem } from '@skerry/karmada-kinds'
import { countAt, fieldAt, numberAt, objectsAt, textAt, withField } from '@skerry/fleet-kinds'
import type { StatusFields } from './known-kind.ts'

/**
 * Returns the template with one status of all its copies, an empty one if there are none. The template counts
 * as observed when each copy was made from it and has been observed since.
 */
export function aggregateKnownStatus(
  template: AnyObject,
  items: readonly AggregatedStatusItem[],
  fields: StatusFields,
): AnyObject {
  const found = fieldAt(template, 'status')
  const old = isJsonObject(found) ? found : {}
  const { conditions: _, ...rest } = old
  const conditions = fields.hasConditions === true ? mergedConditions(items) : []
  const status = {
    ...(fields.hasConditions === true ? rest : old),
    ...countsOf(items, fields),
    ...textsOf(items, fields, old),
    ...objectsOf(items, fields),
    ...(conditions.length > 0 ? { conditions } : {}),
    observedGeneration: observedGeneration(template, items),
  }
  return withField(template, ['status'], withoutUndefined(status))
}

function withoutUndefined(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined))
}

function observedGeneration(
  { metadata: { generation = 0 }, ...template }: AnyObject,
  items: readonly AggregatedStatusItem[],
): number {
  const isSeen = items.every(
    ({ status }) =>
      countAt(status, 'resourceTemplateGeneration') === generation &&
      countAt(status, 'generation') === countAt(status, 'observedGeneration'),
  )
  return isSeen ? generation : countAt(template, 'status', 'observedGeneration')
}

function countsOf(
  items: readonly AggregatedStatusItem[],
  { counts = [], optionalCounts = [] }: StatusFields,
): JsonObject {
  const sumOf = (field: string): number =>
    items.reduce((sum, { status }) => sum + countAt(status, field), 0)
  const told = optionalCounts.filter((field) =>
    items.some(({ status }) => numberAt(status, field) !== undefined),
  )
  return Object.fromEntries([...counts, ...told].map((field) => [field, sumOf(field)]))
}

function textsOf(
  items: readonly AggregatedStatusItem[],
  { texts = [], lastingTexts = [] }: StatusFields,
  old: JsonObject,
): JsonObject {
  const lastOf = (field: string): unknown =>
    items.findLast(({ status }) => isSaid(status?.[field]))?.status?.[field]
  // Without copies there is no earlier value to keep.
  const before = (field: string): unknown => (items.length > 0 ? old[field] : '')
  return Object.fromEntries([
    ...texts.map((field) => [field, lastOf(field) ?? '']),
    ...lastingTexts.map((field) => [field, lastOf(field) ?? before(field)]),
  ])
}

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}

function objectsOf(
  items: readonly AggregatedStatusItem[],
  { objects = [] }: StatusFields,
): JsonObject {
  const lastOf = (field: string): unknown =>
    items.findLast(({ status }) => isJsonObject(status?.[field]))?.status?.[field]
  return Object.fromEntries(objects.map((field) => [field, lastOf(field)]))
}

/** Merges equal conditions; the message names each cluster with its own. */
function mergedConditions(items: readonly AggregatedStatusItem[]): JsonObject[] {
  const merged = new Map<string, JsonObject>()
  for (const { clusterName, status } of items) {
    for (const condition of objectsAt(status, 'conditions')) {
      const key = JSON.stringify(['type', 'status', 'reason'].map((field) => condition[field]))
      const told = `${clusterName}=${textAt(condition, 'message')}`
      const known = merged.get(key)
      const message = known === undefined ? told : `${textAt(known, 'message')}, ${told}`
      merged.set(key, { ...(known ?? condition), message })
    }
  }
  return [...merged.values()]
}
