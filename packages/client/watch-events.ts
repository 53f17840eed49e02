import { linkedSignal } from '@skerry/base'
import type { KubeObject } from '@skerry/api'
import { clientLimits } from './client-limits.ts'
import { collectionPath, type ResourceRef } from './request-path.ts'
import type { Caller, Selectors } from './resource-client.ts'
import { readLines, statusErrorFrom } from './response-body.ts'

export interface WatchRequest extends Selectors {
  /** Absent: all namespaces. */
  namespace?: string
  /** Events after this one. Absent: first an ADDED for each object that exists. */
  resourceVersion?: string
  /** Asks for the objects that exist as ADDED events, ended by a bookmark (WatchList). */
  sendInitialEvents?: boolean
  /** The server ends the watch after this time; default between 300 and 600, by chance of the caller. */
  timeoutSeconds?: number
}

export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | {
      readonly type: 'BOOKMARK'
      readonly resourceVersion: string
      /** True for the one bookmark that ends the initial events of a WatchList. */
      readonly isInitialEventsEnd: boolean
    }

interface WatchOf {
  resource: ResourceRef
  watch: WatchRequest
  accept?: string
}

/** What a watch line holds: `{"type": …, "object": …}`. */
interface WatchLine<T> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  object: T
}

const initialEventsEnd = 'k8s.io/initial-events-end'

export async function* watchEvents<T extends KubeObject>(
  caller: Caller,
  { resource, watch, accept }: WatchOf,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const timeoutSeconds = watch.timeoutSeconds ?? clientLimits.watchSecondsMin
  using scope = linkedSignal(signal)
  using _deadline = deadline(timeoutSeconds * 1000 + clientLimits.watchGraceMs, () =>
    scope.abort(new Error(`Cannot watch ${resource.resource}: the server did not end the watch`)),
  )
  const body = await caller.open(
    {
      method: 'GET',
      path: collectionPath(resource, watch.namespace),
      query: {
        watch: true,
        allowWatchBookmarks: true,
        labelSelector: watch.labelSelector,
        fieldSelector: watch.fieldSelector,
        resourceVersion: watch.resourceVersion,
        ...(watch.sendInitialEvents
          ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }
          : {}),
        timeoutSeconds,
      },
      ...(accept ? { accept } : {}),
    },
    scope.signal,
  )
  for await (const line of readLines(body)) {
    if (line === '') continue
    const event = JSON.parse(line) as WatchLine<T> // the protocol of watch answers
    yield toWatchEvent(event)
  }
}

function toWatchEvent<T extends KubeObject>(event: WatchLine<T>): WatchEvent<T> {
  switch (event.type) {
    case 'ERROR':
      throw statusErrorFrom({ ...event.object } as Record<string, unknown>) // a metav1.Status
    case 'BOOKMARK': {
      const { resourceVersion = '', annotations } = event.object.metadata
      const isInitialEventsEnd = annotations?.[initialEventsEnd] === 'true'
      return { type: 'BOOKMARK', resourceVersion, isInitialEventsEnd }
    }
    default:
      return { type: event.type, object: event.object }
  }
}

/** A half-dead proxy can keep a watch open in silence; past the asked time it is dead for sure. */
function deadline(ms: number, onLate: () => void): Disposable {
  const timer = setTimeout(onLate, ms)
  timer.unref()
  return { [Symbol.dispose]: () => clearTimeout(timer) }
}
