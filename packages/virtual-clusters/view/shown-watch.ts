import { isJsonObject, StatusError, type JsonObject } from '@skerry/api'
import { readLines } from '@skerry/client'
import type { TunnelBody } from '@skerry/tunnel'
import { shownAnswer, shownStatus, type Sight } from './shown-answer.ts'
import { shownObject } from './shown-object.ts'

/**
 * Yields the edge's events as the virtual cluster sees them. It reads an event only after the previous one
 * was taken. Bookmarks pass, so that watches resume where they were. An event longer than the client's bound
 * ends the stream with a RangeError.
 */
export async function* shownWatch(
  body: TunnelBody,
  sight: Sight,
): AsyncGenerator<Uint8Array, void, undefined> {
  const headers = new TableHeaders()
  for await (const line of readLines(body)) {
    if (line.trim() === '') continue
    const event: unknown = JSON.parse(line)
    if (!isJsonObject(event) || !isJsonObject(event['object'])) throw unknownEvent()
    const object = await shownOf(event['type'], event['object'], sight)
    headers.note(event['object'])
    if (object === undefined) continue
    yield Buffer.from(`${JSON.stringify({ ...event, object: headers.withThem(object) })}\n`)
  }
}

async function shownOf(
  type: unknown,
  object: JsonObject,
  sight: Sight,
): Promise<JsonObject | undefined> {
  if (type === 'ERROR') return shownStatus(object, sight)
  // A bookmark carries only a version, even as a Table.
  if (type === 'BOOKMARK') return object
  if (object['kind'] === 'Table') {
    const shown = await shownAnswer(object, { ...sight, isOne: false })
    const { rows } = isJsonObject(shown) ? shown : {}
    const isSeen = Array.isArray(rows) && rows.length > 0
    return isSeen && isJsonObject(shown) ? shown : undefined
  }
  if (!(await sight.isVisible(object))) return undefined
  return shownObject(object, sight.of, sight.names)
}

/** Keeps the column descriptions, which only the first Table of a watch has, although it may not be shown. */
class TableHeaders {
  #pending: unknown

  note(object: JsonObject): void {
    const { columnDefinitions } = object
    if (Array.isArray(columnDefinitions) && columnDefinitions.length > 0) {
      this.#pending = columnDefinitions
    }
  }

  withThem(object: JsonObject): JsonObject {
    const columnDefinitions = this.#pending
    if (columnDefinitions === undefined || object['kind'] !== 'Table') return object
    this.#pending = undefined
    return { ...object, columnDefinitions }
  }
}

function unknownEvent(): StatusError {
  const text = 'Cannot show event in a virtual cluster: the edge cluster sent something else'
  return new StatusError('InternalError', text)
}
