import type { CacheEvent, ResourceCache } from './resource-cache.ts'
import type { WatchCache } from './watch-cache.ts'

export interface ResourceFollower {
  onEvent(event: CacheEvent): void
  /** Called when the whole resource was read again, so that everything may differ. */
  onReset(resource: ResourceCache): void
}

/**
 * Listens to a resource, by `resourceKey`, for as long as the cache lives, even if the cache is
 * read again.
 */
export function followResource(
  cache: WatchCache,
  key: string,
  follower: ResourceFollower,
): Disposable {
  let isOver = false
  let listening: Disposable
  const listen = (resource: ResourceCache): void => {
    listening = resource.listen({
      onEvent: (event) => follower.onEvent(event),
      onBookmark: () => undefined,
      // The cache is complete again at the end of the turn in which it is reset.
      onReset: () => queueMicrotask(again),
    })
  }
  const again = (): void => {
    if (isOver) return
    const resource = cache.resource(key)
    listen(resource)
    follower.onReset(resource)
  }
  listen(cache.resource(key))
  return {
    [Symbol.dispose]() {
      isOver = true
      listening[Symbol.dispose]()
    },
  }
}
