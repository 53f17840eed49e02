import { isJsonObject, type JsonObject } from '@skerry/api'

/** Returns an object as a tab gets it: without managedFields, which are half of its bytes. */
export function shownObject(value: unknown): JsonObject | undefined {
  if (!isJsonObject(value) || !isJsonObject(value['metadata'])) return undefined
  const { managedFields: _, ...metadata } = value['metadata']
  return { ...value, metadata }
}

const shownMetadata = [
  'name',
  'namespace',
  'creationTimestamp',
  'deletionTimestamp',
  'labels',
] as const

/** Returns a row of a Table: its cells, and the metadata by which a page finds, filters and links it. */
export function shownRow(value: unknown): JsonObject | undefined {
  if (!isJsonObject(value) || !Array.isArray(value['cells'])) return undefined
  const { object } = value
  const whole = isJsonObject(object) ? object['metadata'] : undefined
  if (!isJsonObject(whole)) return undefined
  const known = shownMetadata.filter((key) => whole[key] !== undefined)
  return {
    cells: value['cells'],
    metadata: Object.fromEntries(known.map((key) => [key, whole[key]])),
  }
}

/** A list or an event, as far as a watch reads it. */
export interface ShownList {
  readonly items: readonly JsonObject[]
  readonly columns: unknown
  readonly resourceVersion: string
  readonly continueToken: string
}

/** Reads a list or a Table. Returns undefined for anything else. */
export function readList(value: unknown): ShownList | undefined {
  if (!isJsonObject(value)) return undefined
  const { metadata, items, rows, columnDefinitions } = value
  const listed = Array.isArray(rows) ? rows : items
  // Some servers send null for an empty list.
  if (!isJsonObject(metadata) || (!Array.isArray(listed) && listed !== null)) return undefined
  const { resourceVersion, continue: next } = metadata
  const show = Array.isArray(rows) ? shownRow : shownObject
  return {
    items: (listed ?? []).flatMap((each: unknown): JsonObject[] => {
      const shown = show(each)
      return shown ? [shown] : []
    }),
    columns: columnDefinitions,
    resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '',
    continueToken: typeof next === 'string' ? next : '',
  }
}
