import type { CachedObject } from '../cache/cached-object.ts'
import type { Frames, WatchEventType } from '../cache/watcher.ts'
import type { KindReader } from '../registry/kind-reader.ts'
import { protobufFrames } from '../protobuf/protobuf-answer.ts'
import { emptyObjects } from './tables/empty-objects.ts'
import { isPlain, shapedObject, type View } from './represent.ts'

const utf8 = new TextEncoder()
const frameEnd = utf8.encode('}\n')
const heads: Readonly<Record<WatchEventType, Uint8Array>> = Object.freeze({
  ADDED: utf8.encode('{"type":"ADDED","object":'),
  MODIFIED: utf8.encode('{"type":"MODIFIED","object":'),
  DELETED: utf8.encode('{"type":"DELETED","object":'),
})

/** Encodes JSON lines of objects, Tables or metadata, as the client requested. */
export async function framesFor(view: View): Promise<Frames> {
  if (view.representation.encoding === 'protobuf') return protobufFramesFor(view)
  return isPlain({ ...view.representation, isPretty: false })
    ? plainFrames(view.reader)
    : shapedFrames(view)
}

interface LastFrame {
  type: WatchEventType
  object: CachedObject
  frame: Uint8Array
}

/** One event goes to many watchers in a row, so the last encoding is kept for the next one. */
const lastFrames = new WeakMap<KindReader, LastFrame>()

function plainFrames(reader: KindReader): Frames {
  return {
    areShared: true,
    event(type, object) {
      const last = lastFrames.get(reader)
      if (last?.object === object && last.type === type) return last.frame
      const frame = Buffer.concat([heads[type], reader.wire(object), frameEnd])
      lastFrames.set(reader, { type, object, frame })
      return frame
    },
    added: (object) => [heads.ADDED, reader.wire(object), frameEnd],
    error: (status) => line('ERROR', status),
    bookmark: (revision, { isInitialEnd }) =>
      line('BOOKMARK', {
        kind: reader.kind.kind,
        apiVersion: reader.apiVersion,
        metadata: bookmarkMeta(revision, isInitialEnd),
        ...emptyObjects[`${reader.apiVersion}/${reader.kind.kind}`],
      }),
  }
}

const lastProtobufFrames = new WeakMap<KindReader, LastFrame>()

/** Writes each event with its length before it. */
async function protobufFramesFor(view: View): Promise<Frames> {
  const { reader, representation } = view
  const frame = await protobufFrames()
  const type =
    representation.as === 'partial'
      ? { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' }
      : { kind: reader.kind.kind, apiVersion: reader.apiVersion }
  return {
    areShared: representation.as !== 'partial',
    event(eventType, object) {
      if (representation.as === 'partial') return frame(eventType, shapedObject(object, view))
      const last = lastProtobufFrames.get(reader)
      if (last?.object === object && last.type === eventType) return last.frame
      const made = frame(eventType, reader.parse(object))
      lastProtobufFrames.set(reader, { type: eventType, object, frame: made })
      return made
    },
    bookmark: (revision, { isInitialEnd }) =>
      frame('BOOKMARK', {
        ...type,
        metadata: bookmarkMeta(revision, isInitialEnd),
        ...emptyObjects[`${type.apiVersion}/${type.kind}`],
      }),
    error: (status) => frame('ERROR', status),
  }
}

function shapedFrames(view: View): Frames {
  const { representation } = view
  // Only the first Table of a watch describes its columns.
  let hasHeaders = true
  return {
    event(type, object) {
      const frame = line(type, shapedObject(object, view, hasHeaders))
      hasHeaders = false
      return frame
    },
    error: (status) => line('ERROR', status),
    bookmark(revision, { isInitialEnd }) {
      const metadata = bookmarkMeta(revision, isInitialEnd)
      if (representation.as === 'table') {
        return line('BOOKMARK', {
          kind: 'Table',
          apiVersion: 'meta.k8s.io/v1',
          metadata,
          columnDefinitions: null,
          rows: [
            {
              cells: [],
              object: {
                kind: 'PartialObjectMetadata',
                apiVersion: 'meta.k8s.io/v1',
                metadata,
              },
            },
          ],
        })
      }
      const shape = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata }
      return line('BOOKMARK', shape)
    },
  }
}

function line(type: string, object: unknown): Uint8Array {
  return utf8.encode(`${JSON.stringify({ type, object })}\n`)
}

function bookmarkMeta(revision: number, isInitialEnd: boolean): Record<string, unknown> {
  return {
    resourceVersion: String(revision),
    ...(isInitialEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
  }
}
