import { StatusError, isStatusError } from '@skerry/api'
import { hasSelectors, placeOf, selects } from '../cache/selection.ts'
import type { CachedObject } from '../cache/cached-object.ts'
import type { CacheEvent, ResourceCache } from '../cache/resource-cache.ts'
import { Watcher } from '../cache/watcher.ts'
import { convertedFeed, objectsOfEvent } from './converted-feed.ts'
import type { ApiAnswer } from '../contract/exchange.ts'
import type { UnreadBytes } from '../http/unread-bytes.ts'
import { tooManyRequests } from '../contract/status-answer.ts'
import { protobufType } from '../protobuf/decode-object.ts'
import { invalidVersion, parseResourceVersion, waitForVersion } from '../registry/read.ts'
import { expired } from '../registry/registry-errors.ts'
import type { RegistryDeps, RequestScope } from '../registry/request-scope.ts'
import type { WatchOptions } from './request-options.ts'
import type { View } from './represent.ts'
import { framesFor } from './watch-frames.ts'

/** Counts the open watches. Their number is limited for the whole server. */
export interface WatchCount {
  open: number
}

export async function watchAnswer(
  options: WatchOptions,
  view: View,
  scope: RequestScope,
  deps: RegistryDeps & { watchCount: WatchCount; unread: UnreadBytes },
): Promise<ApiAnswer> {
  const { limits, clock, random, cache, watchCount } = deps
  if (watchCount.open >= limits.watchersMax) throw tooManyRequests()
  const { resourceVersion } = options
  const revision = watchRevision(resourceVersion)
  const frames = await framesFor(view)
  // A client that wants objects waits for them; one that wants events after a future version gets
  // those.
  const wantsObjects = options.sendInitialEvents === true || resourceVersion === ''
  if (wantsObjects) await waitForVersion(resourceVersion, scope.signal, deps)
  const resource = cache.resource(scope.reader.storage)
  const place = placeOf(options.selection, scope.reader.kind)
  const start = startOf(options, { revision, place }, resource)
  const isProtobuf = view.representation.encoding === 'protobuf'
  const headers = {
    'content-type': isProtobuf ? `${protobufType};stream=watch` : 'application/json',
  }
  if (start === undefined) {
    const error = expired(`too old resource version: ${revision} (${resource.oldestRevision})`)
    return { status: 200, headers, body: frames.error(error.toStatus()) }
  }
  // No event may be missed between here and the Watcher, so the feed buffers them.
  const feed = scope.reader.prepare ? convertedFeed(resource, scope, limits) : resource
  await scope.reader.prepare?.(objectsOf(start), scope.signal)
  const isSelected = (object: CachedObject): boolean =>
    selects(options.selection, object, scope.reader)
  const isWhole = options.selection.namespace === '' && options.selection.name === ''
  const takesAll = isWhole && !hasSelectors(options.selection)
  const defaultMs = limits.watchTimeoutMinMs * (1 + random.next())
  watchCount.open += 1
  const body = new Watcher(
    {
      resource: feed,
      frames,
      isSelected: takesAll ? () => true : isSelected,
      place,
      initial: takesAll ? start.initial : start.initial.filter(isSelected),
      replay: start.replay,
      afterRevision: revision,
      initialBookmark:
        options.sendInitialEvents === true && options.wantsBookmarks ? cache.revision : undefined,
      wantsBookmarks: options.wantsBookmarks,
      timeoutMs: options.timeoutSeconds > 0 ? options.timeoutSeconds * 1000 : defaultMs,
      revision: () => cache.revision,
    },
    {
      clock,
      limits,
      pushTurns: cache.pushTurns,
      unread: scope.isReadHere ? undefined : { bytes: deps.unread, user: scope.user.name },
      onClose: () => (watchCount.open -= 1),
    },
    scope.signal,
  )
  return { status: 200, headers, body }
}

function objectsOf({ initial, replay }: Start): CachedObject[] {
  return [...initial, ...replay.flatMap(objectsOfEvent)]
}

/** In a watch upstream reports a malformed version as an internal error. */
function watchRevision(text: string): number {
  try {
    return parseResourceVersion(text)
  } catch (error) {
    if (!isStatusError(error, 'BadRequest')) throw error
    throw new StatusError('Unknown', invalidVersion(text), { code: 500, cause: error })
  }
}

interface Start {
  initial: readonly CachedObject[]
  replay: readonly CacheEvent[]
}

/** Returns undefined if the history since that revision is gone. */
function startOf(
  { resourceVersion, sendInitialEvents }: WatchOptions,
  { revision, place }: { readonly revision: number; readonly place: string },
  resource: ResourceCache,
): Start | undefined {
  const isFromNow = resourceVersion === '' || resourceVersion === '0'
  const wantsInitial = sendInitialEvents ?? isFromNow
  if (wantsInitial) return { initial: resource.listAt(place), replay: [] }
  if (isFromNow) return { initial: [], replay: [] }
  const replay = resource.eventsAfter(revision)
  return replay && { initial: [], replay }
}
