import { constants, createGzip } from 'node:zlib'
import { Readable } from 'node:stream'
import { StatusError } from '@skerry/api'
import type { ApiAnswer, AuthorizedRequest, Route } from '@skerry/apiserver'
import { createWakeFlag, whenAborted, type Clock } from '@skerry/base'
import { UserPlaces } from '../request/user-places.ts'
import { consoleBounds } from '../limits-table.ts'
import type { FleetBoard } from './fleet-board.ts'
import { FleetReader } from './fleet-reader.ts'
import type { VisibleClusters } from './visible-clusters.ts'

export const fleetPath = '/hub/v1/fleet'

export interface FleetRouteDeps {
  readonly board: FleetBoard
  readonly visible: VisibleClusters
  readonly clock: Pick<Clock, 'now' | 'setTimer'>
}

const { beatMs, streamsPerUserMax } = consoleBounds.fleetRoute

/** Serves the rows of the clusters that a user may see, and with `watch=1` their changes as lines of JSON. */
export function fleetRoute(deps: FleetRouteDeps): Route {
  const places = new UserPlaces({ name: 'streams of the fleet', perUserMax: streamsPerUserMax })
  return {
    prefix: fleetPath,
    matches: ({ path }) => path === fleetPath,
    async serve(admitted) {
      const { info, user, authorizer, signal, request } = admitted
      if (info.method !== 'GET' && info.method !== 'HEAD') {
        throw new StatusError('MethodNotAllowed', 'the server does not allow this method here')
      }
      deps.board.refresh()
      const reader = new FleetReader(deps.board)
      const { changed } = reader.take(await deps.visible.of(user, authorizer))
      if (!/^(?:1|true)$/.test(info.query.get('watch') ?? '')) {
        const text = `{"serverTime":${deps.clock.now()},"clusters":[${changed.join(',')}]}\n`
        return { status: 200, headers: jsonHeaders, body: Buffer.from(text) }
      }
      const place = places.take(user.name)
      whenAborted(signal, () => place[Symbol.dispose]())
      const lines = linesOf(admitted, { changed, reader }, deps)
      return streamAnswer(lines, request.headers['accept-encoding'] ?? '')
    },
  }
}

const jsonHeaders = Object.freeze({
  'content-type': 'application/json',
  'x-content-type-options': 'nosniff',
})

function streamAnswer(lines: AsyncGenerator<Uint8Array>, accepted: string): ApiAnswer {
  const headers = {
    ...jsonHeaders,
    'content-type': 'application/x-ndjson',
    vary: 'accept-encoding',
  }
  if (!/\bgzip\b/.test(accepted)) return { status: 200, headers, body: lines }
  return {
    status: 200,
    headers: { ...headers, 'content-encoding': 'gzip' },
    body: compressedLines(lines),
  }
}

/** Each line is flushed. A small window keeps the memory of a stream that lasts for hours small, too. */
async function* compressedLines(lines: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH, windowBits: 14, memLevel: 6 })
  yield* Readable.from(lines).pipe(gzip)
}

/** A slow reader gets fewer and larger deltas: nothing is computed before it takes the line. */
async function* linesOf(
  { user, authorizer, signal }: AuthorizedRequest,
  { changed, reader }: { readonly changed: readonly string[]; readonly reader: FleetReader },
  { board, visible, clock }: FleetRouteDeps,
): AsyncGenerator<Uint8Array> {
  const wake = createWakeFlag()
  using _steps = board.follow(() => wake.raise())
  const line = (type: string, rest = '') =>
    Buffer.from(`{"type":"${type}","serverTime":${clock.now()}${rest}}\n`)
  yield line('snapshot', `,"clusters":[${changed.join(',')}]`)
  try {
    for (;;) {
      using _beat = clock.setTimer(beatMs, () => wake.raise())
      await wake.wait(signal)
      // Rights may have changed without any step.
      const delta = reader.take(await visible.of(user, authorizer))
      if (delta.changed.length === 0 && delta.gone.length === 0) yield line('beat')
      else yield line('delta', deltaText(delta))
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

function deltaText({ changed, gone }: ReturnType<FleetReader['take']>): string {
  return `,"changed":[${changed.join(',')}],"gone":${JSON.stringify(gone)}`
}
