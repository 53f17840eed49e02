import type { CacheEvent, ResourceCache } from './resource-cache.ts'
import type { WatchCache } from './watch-cache.ts'

export interface ResourceFollower {
  onEvent(event: CacheEvent): void
  /** Everything may be different: the resource was read again as a whole. */
  onReset(resource: ResourceCache): void
}

/** Listens to a resource, by `resourceKey`, for as long as the cache lives, however often that is read again. */
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
      // The cache is whole again at the end of the turn in which it is reset.
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
