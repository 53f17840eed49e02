import type { CachedObject } from '../cache/cached-object.ts'
import {
  lastSeen,
  type CacheEvent,
  type CacheListener,
  type ResourceCache,
} from '../cache/resource-cache.ts'
import type { ApiServerLimits } from '../limits-table.ts'
import type { RequestScope } from '../registry/request-scope.ts'

/**
 * Delivers a resource's events in order, each once the webhook has converted its objects. Listens
 * at once and buffers events until the first listener comes. If the webhook fails or falls too far
 * behind, the watch ends and the client starts again.
 */
export function convertedFeed(
  resource: Pick<ResourceCache, 'listen'>,
  { reader, signal }: Pick<RequestScope, 'reader' | 'signal'>,
  { watcherEventsMax }: Pick<ApiServerLimits, 'watcherEventsMax'>,
): Pick<ResourceCache, 'listen'> {
  const { promise: listener, resolve: setListener } = Promise.withResolvers<CacheListener>()
  let isEnded = false
  let waiting = 0
  let last: Promise<void> = Promise.resolve()
  const end = async (): Promise<void> => {
    if (isEnded) return
    isEnded = true
    inner[Symbol.dispose]()
    ;(await listener).onReset()
  }
  const then = (work: () => Promise<void>): void => {
    waiting += 1
    const before = last
    last = inTurn(before, work).catch(end)
    if (waiting > watcherEventsMax) last = end()
  }
  const inTurn = async (before: Promise<void>, work: () => Promise<void>): Promise<void> => {
    await before
    waiting -= 1
    if (!isEnded) await work()
  }
  const inner = resource.listen({
    onEvent: (event) =>
      then(async () => {
        await reader.prepare?.(objectsOfEvent(event), signal)
        ;(await listener).onEvent(event)
      }),
    onBookmark: (revision) => then(async () => (await listener).onBookmark(revision)),
    onReset: () => then(end),
  })
  return {
    listen(wanted) {
      setListener(wanted)
      return {
        [Symbol.dispose]() {
          isEnded = true
          inner[Symbol.dispose]()
        },
      }
    },
  }
}

/** Returns all objects of an event that any watcher may look at. */
export function objectsOfEvent(event: CacheEvent): CachedObject[] {
  const { object, previous } = event
  return previous ? [object, previous, lastSeen(event)] : [object]
}
