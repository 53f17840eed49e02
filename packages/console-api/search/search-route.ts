import { StatusError, type JsonObject } from '@skerry/api'
import type { AuthorizedRequest, LoadedServer, Route } from '@skerry/apiserver'
import { asError, linkedSignal, whenAborted, type Clock } from '@skerry/base'
import { innerRequest } from '../inner/inner-request.ts'
import { UserPlaces } from '../request/user-places.ts'
import type { FleetBoard } from '../fleet/fleet-board.ts'
import type { VisibleClusters } from '../fleet/visible-clusters.ts'
import { consoleBounds } from '../limits-table.ts'
import { searchCluster, type Ask } from './search-cluster.ts'
import { readSearchQuery, type SearchQuery } from './search-query.ts'

export const searchPath = '/hub/v1/search'

export interface SearchRouteDeps {
  readonly server: Pick<LoadedServer, 'answer'>
  readonly board: Pick<FleetBoard, 'refresh'>
  readonly visible: VisibleClusters
  readonly clock: Pick<Clock, 'setTimer'>
}

const { clustersAtOnce, clusterMs, allMs, errorCharsMax, perUserMax } = consoleBounds.searchRoute

/**
 * Serves lines of JSON: the objects found in each cluster that the user may see, or why it did not answer, as they come.
 * Each request to a cluster is one of the user, with the same checks, records and limits as any other.
 */
export function searchRoute(deps: SearchRouteDeps): Route {
  const places = new UserPlaces({ name: 'searches', perUserMax })
  return {
    prefix: searchPath,
    matches: ({ path }) => path === searchPath,
    async serve(admitted) {
      const { info, user, authorizer, signal } = admitted
      if (info.method !== 'GET') {
        throw new StatusError('MethodNotAllowed', 'the server does not allow this method here')
      }
      const query = readSearchQuery(info.query)
      deps.board.refresh()
      const names = [...(await deps.visible.of(user, authorizer))].toSorted()
      const place = places.take(user.name)
      whenAborted(signal, () => place[Symbol.dispose]())
      return {
        status: 200,
        headers: {
          'content-type': 'application/x-ndjson',
          'cache-control': 'no-store',
          'x-content-type-options': 'nosniff',
        },
        body: linesOf(admitted, { names, query, place }, deps),
      }
    },
  }
}

interface Search {
  readonly names: readonly string[]
  readonly query: SearchQuery
  readonly place: Disposable
}

interface Searched {
  readonly cluster: string
  readonly items?: readonly JsonObject[]
  readonly error?: string
}

/** The last line. A cut search has found as much as was asked for, and may not have asked all clusters. */
interface SearchEnd {
  readonly end: { readonly clusters: number; readonly asked: number; readonly isCut: boolean }
}

/** A slow reader holds up the search: no further cluster is asked before it takes a line. */
async function* linesOf(
  admitted: AuthorizedRequest,
  { names, query, place }: Search,
  { server, clock }: SearchRouteDeps,
): AsyncGenerator<Uint8Array> {
  using _place = place
  using scope = linkedSignal(admitted.signal)
  using _timer = clock.setTimer(allMs, () => scope.abort(new Error('the search took too long')))
  const ask: Ask = (target, accept, signal) =>
    server.answer(innerRequest(admitted, { target, accept }, signal))
  const running = new Map<string, Promise<Searched>>()
  let at = 0
  let left = query.limit
  try {
    for (;;) {
      for (; running.size < clustersAtOnce && at < names.length; at += 1) {
        const name = names[at] ?? ''
        const asked = { ...query, limit: left }
        running.set(name, searchInTime(name, asked, { ask, clock }, scope.signal))
      }
      if (running.size === 0) break
      const { cluster, items = [], error } = await Promise.race(running.values())
      running.delete(cluster)
      if (admitted.signal.aborted) return
      const shown = items.slice(0, left)
      left -= shown.length
      if (error !== undefined) yield lineOf({ cluster, error })
      else if (shown.length > 0) yield lineOf({ cluster, items: shown })
      if (left === 0) break
    }
    yield lineOf({ end: { clusters: names.length, asked: at, isCut: left === 0 } })
  } finally {
    scope.abort(new Error('the search is over'))
    await Promise.all(running.values())
  }
}

/** Never rejects. */
async function searchInTime(
  cluster: string,
  query: SearchQuery,
  { ask, clock }: { readonly ask: Ask; readonly clock: Pick<Clock, 'setTimer'> },
  signal: AbortSignal,
): Promise<Searched> {
  using scope = linkedSignal(signal)
  const late = new Error(`it did not answer within ${clusterMs / 1_000} s`)
  using _timer = clock.setTimer(clusterMs, () => scope.abort(late))
  const ended = Promise.withResolvers<never>()
  ended.promise.catch(() => undefined)
  whenAborted(scope.signal, () => ended.reject(scope.signal.reason))
  try {
    const found = searchCluster(cluster, query, ask, scope.signal)
    return { cluster, items: await Promise.race([found, ended.promise]) }
  } catch (error) {
    return { cluster, error: asError(error).message.slice(0, errorCharsMax) }
  }
}

function lineOf(line: Searched | SearchEnd): Uint8Array {
  return Buffer.from(`${JSON.stringify(line)}\n`)
}
