import { isJsonObject, StatusError, type JsonObject } from '@skerry/api'
import { shownObject, shownText, type ShownKind, type ShownNames } from './shown-object.ts'

/** The rules by which a virtual cluster sees an answer. */
export interface Sight {
  readonly names: ShownNames
  /** The kind of the requested objects, for answers that do not name it. */
  readonly of: ShownKind
  /**
   * Reports whether this object, as the edge has it, belongs to the virtual cluster. The object has metadata
   * at least.
   */
  readonly isVisible: (object: JsonObject) => boolean | Promise<boolean>
  /** Replaces the edge's continue token with a sealed one. */
  readonly pageToken: (token: string) => string
  /** The client wants rows without objects; they were asked for to judge them. */
  readonly hidesRowObjects: boolean
  /** Returns the error that replaces a single object that is not visible. */
  readonly absent: () => StatusError
  readonly isOne: boolean
}

/**
 * An answer of the edge's API server as the virtual cluster sees it: a Status, a Table, a list, or one
 * object. Throws StatusError NotFound where the one object is not the virtual cluster's.
 */
export async function shownAnswer(answer: unknown, sight: Sight): Promise<unknown> {
  if (!isJsonObject(answer)) throw notUnderstood()
  const { kind, items, rows } = answer
  if (kind === 'Status') return shownStatus(answer, sight)
  if (kind === 'Table') {
    const shown = await shownRows(answer, rows, sight)
    if (sight.isOne && shown.rows.length === 0) throw sight.absent()
    return { ...answer, ...shown }
  }
  if (Array.isArray(items)) {
    const shown = await visible(items, sight)
    return {
      ...answer,
      metadata: shownListMeta(answer['metadata'], sight),
      items: shown.map((item) => shownObject(item, sight.of, sight.names)),
    }
  }
  if (!isJsonObject(answer['metadata']) && kind !== sight.of.kind) throw notUnderstood()
  if (await sight.isVisible(answer)) return shownObject(answer, sight.of, sight.names)
  throw sight.absent()
}

/** A Status is of no object, but may name one and its namespace. */
export function shownStatus(status: JsonObject, sight: Sight): JsonObject {
  const { details, metadata } = status
  const { names } = sight
  const shown = shownObject(status, { group: '', kind: 'Status' }, names)
  shown['metadata'] = shownListMeta(metadata, sight)
  if (!isJsonObject(details) || details['kind'] !== 'namespaces') return shown
  const { name } = details
  if (typeof name !== 'string') return shown
  return { ...shown, details: { ...details, name: names.namespace(name) ?? name } }
}

async function visible(items: readonly unknown[], { isVisible }: Sight): Promise<JsonObject[]> {
  const seen: JsonObject[] = []
  for (const item of items) {
    if (!isJsonObject(item)) throw notUnderstood()
    const verdict = isVisible(item)
    if (typeof verdict === 'boolean' ? verdict : await verdict) seen.push(item)
  }
  return seen
}

async function shownRows(
  table: JsonObject,
  rows: unknown,
  sight: Sight,
): Promise<{ metadata: unknown; rows: JsonObject[] }> {
  const shown: JsonObject[] = []
  for (const row of Array.isArray(rows) ? rows : []) {
    const object: unknown = isJsonObject(row) ? row['object'] : undefined
    if (!isJsonObject(row) || !isJsonObject(object)) throw notUnderstood()
    if (await sight.isVisible(object)) shown.push(shownRow(row, object, sight))
  }
  return { metadata: shownListMeta(table['metadata'], sight), rows: shown }
}

function shownRow(row: JsonObject, object: JsonObject, sight: Sight): JsonObject {
  const { names, hidesRowObjects } = sight
  const shown = shownObject(object, sight.of, names)
  const name = nameOf(object)
  const cells: unknown = row['cells']
  return {
    ...row,
    cells: Array.isArray(cells)
      ? cells.map((cell: unknown) => {
          if (typeof cell !== 'string') return cell
          return cell === name ? nameOf(shown) : shownText(cell, names)
        })
      : cells,
    object: hidesRowObjects ? null : shown,
  }
}

function nameOf({ metadata }: JsonObject): unknown {
  return isJsonObject(metadata) ? metadata['name'] : undefined
}

/** Drops the remaining count and replaces the token: both cover the objects of all clusters. */
function shownListMeta(metadata: unknown, { pageToken }: Sight): unknown {
  if (!isJsonObject(metadata)) return metadata
  const { remainingItemCount: _, continue: token, ...rest } = metadata
  return typeof token === 'string' && token !== '' ? { ...rest, continue: pageToken(token) } : rest
}

function notUnderstood(): StatusError {
  const text =
    'Cannot show answer in a virtual cluster: the edge cluster answered with something that is not an object, list or Table'
  return new StatusError('InternalError', text)
}
