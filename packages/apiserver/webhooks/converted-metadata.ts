import {
  isJsonObject,
  validateAnnotations,
  validateLabels,
  type JsonObject,
  type ObjectMeta,
  type StatusCause,
} from '@skerry/api'

/** Returns the original metadata with the labels and annotations from the webhook. Throws Error. */
export function restoredMetadata(
  original: ObjectMeta,
  converted: JsonObject | undefined,
): ObjectMeta {
  if (!converted) throw new Error('missing metadata in converted object')
  const restored: ObjectMeta = { ...original }
  for (const field of ['labels', 'annotations'] as const) {
    const texts = textsOf(converted[field], field)
    if (texts === undefined) delete restored[field]
    else {
      if (!isSame(texts, original[field])) requireValid(texts, field)
      restored[field] = texts
    }
  }
  return restored
}

function textsOf(value: unknown, field: string): Record<string, string> | undefined {
  if (value === undefined || value === null) return undefined
  if (!isJsonObject(value)) {
    const sort = Array.isArray(value) ? '[]interface {}' : typeof value
    throw new Error(`invalid metadata.${field} of type ${sort} in converted object`)
  }
  const texts: Record<string, string> = {}
  for (const [key, text] of Object.entries(value)) {
    if (typeof text !== 'string') {
      throw new Error(
        `metadata.${field}[${key}] must be a string, but is ${goType(text)} in converted object`,
      )
    }
    texts[key] = text
  }
  return texts
}

function goType(value: unknown): string {
  if (value === null) return '<nil>'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  if (typeof value === 'boolean') return 'bool'
  return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}'
}

function isSame(texts: Record<string, string>, before: Record<string, string> = {}): boolean {
  const keys = Object.keys(texts)
  return (
    keys.length === Object.keys(before).length && keys.every((key) => texts[key] === before[key])
  )
}

function requireValid(texts: Record<string, string>, field: 'labels' | 'annotations'): void {
  const causes: StatusCause[] =
    field === 'labels'
      ? validateLabels(texts, 'metadata.labels')
      : validateAnnotations(texts, 'metadata.annotation')
  if (causes.length === 0) return
  const found = causes.map((cause) => `${cause.field ?? ''}: ${cause.message ?? ''}`)
  throw new Error(found.length === 1 ? found[0] : `[${found.join(', ')}]`)
}
