import { linkedSignal } from '@skerry/base'
import { isJsonObject, type KubeObject } from '@skerry/api'
import { clientLimits } from './limits-table.ts'
import { collectionPath, type ResourceRef } from './request-path.ts'
import type { Caller, Selectors } from './resource-client.ts'
import { readObject } from './read-object.ts'
import { readLines, statusErrorFrom } from './response-body.ts'

export interface WatchRequest extends Selectors {
  /** If omitted, all namespaces. */
  namespace?: string
  /** Events after this version. If omitted, the watch begins with an ADDED for each existing object. */
  resourceVersion?: string
  /** Requests the existing objects as ADDED events, ended by a bookmark (WatchList). */
  sendInitialEvents?: boolean
  /**
   * The server ends the watch after this time. Default: 300; informers choose at random between 300
   * and 600.
   */
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

const initialEventsEnd = 'k8s.io/initial-events-end'

export async function* watchEvents<T extends KubeObject>(
  caller: Caller,
  { resource, watch, accept }: WatchOf,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const timeoutSeconds = watch.timeoutSeconds ?? clientLimits.watchSecondsMin
  using scope = linkedSignal(signal)
  const onLate = (): void =>
    scope.abort(new Error(`Cannot watch ${resource.resource}: the server did not end the watch`))
  // A broken proxy can keep a silent watch open; after the requested time the watch is certainly dead.
  const deadlineMs = timeoutSeconds * 1000 + clientLimits.watchGraceMs
  using _deadline = caller.clock.setTimer(deadlineMs, onLate, { isBackground: true })
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
    yield toWatchEvent<T>(JSON.parse(line))
  }
}

function toWatchEvent<T extends KubeObject>(line: unknown): WatchEvent<T> {
  const { type, object } = isJsonObject(line) ? line : {}
  switch (type) {
    case 'ERROR':
      throw statusErrorFrom(isJsonObject(object) ? object : {})
    case 'BOOKMARK': {
      const { resourceVersion = '', annotations } = readObject<T>(object).metadata
      const isInitialEventsEnd = annotations?.[initialEventsEnd] === 'true'
      return { type, resourceVersion, isInitialEventsEnd }
    }
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type, object: readObject<T>(object) }
    default:
      throw new Error('Cannot read watch: an event has an unknown type')
  }
}
