import { accessEnded } from '@skerry/apiserver'
import type { Clock, Logger, Random } from '@skerry/base'
import type { TunnelBody, TunnelRequest, TunnelResponse } from '@skerry/tunnel'
import type { ClusterWay } from '../way/cluster-way.ts'
import { FrameSplitter, type Framing, type PartialBudget } from './frame-splitter.ts'
import { readEventHead } from './read-event-head.ts'
import { framingOf } from './watch-framing.ts'
import { WatchPosition } from './watch-position.ts'
import { readWatchRequest, type WatchRequest } from './watch-request.ts'
import { createWatchReturn, type WatchReturn } from './watch-return.ts'
import { type WatchLimits, watchLimits } from '../limits-table.ts'

export interface ClusterWatchesDeps {
  readonly way: Pick<ClusterWay, 'send'>
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep' | 'setTimer'>
  readonly random: Random
  readonly log: Logger
  readonly limits?: Partial<WatchLimits>
}

export interface AskedWatch {
  readonly cluster: string
  readonly request: TunnelRequest
  /** Throws Unauthorized or Forbidden when the person may no longer watch this. */
  readonly mayGoOn: () => Promise<void>
}

export interface ClusterWatches {
  /** Sends as a tunnel's `send` does. The answer of a watch outlives the tunnel in which it began. */
  send(asked: AskedWatch, signal: AbortSignal): Promise<TunnelResponse>
}

/**
 * Keeps watches of clusters alive when the tunnel, the agent or another replica breaks under them. It passes
 * on whole events only, and knows the resourceVersion of each. After a break it requests the watch again from
 * the last one, so that the client sees each event once and no break. If that is impossible, the watch ends,
 * as watches may at any time, and the client starts another.
 */
export function createClusterWatches(deps: ClusterWatchesDeps): ClusterWatches {
  const limits = { ...watchLimits, ...deps.limits }
  const budgets = new Map<string, PartialBudget & { watches: number }>()
  const budgetOf = (cluster: string) => {
    const known = budgets.get(cluster)
    const budget = known ?? { usedBytes: 0, bytesMax: limits.partialBytesMax, watches: 0 }
    budgets.set(cluster, budget)
    budget.watches += 1
    const leave = (): void => {
      budget.watches -= 1
      if (budget.watches === 0) budgets.delete(cluster)
    }
    return { budget, [Symbol.dispose]: leave }
  }
  return {
    async send({ cluster, request, mayGoOn }, signal) {
      const watch = readWatchRequest(request)
      const broken = { cluster, watch, mayGoOn }
      const asking = createWatchReturn(broken, { ...deps, limits }, signal)
      const answer = await deps.way.send(cluster, watch.first, signal)
      const framing = framingOf(answer)
      // An answer with a length is already whole; mostly it is a refusal.
      if (framing === undefined || 'content-length' in answer.headers) return answer
      const followed = { body: answer.body, watch, framing, asking, signal }
      return {
        ...answer,
        body: (async function* () {
          using held = budgetOf(cluster)
          using _returning = asking
          yield* follow(
            followed,
            () => new FrameSplitter(framing, limits.frameBytesMax, held.budget),
          )
        })(),
      }
    },
  }
}

interface Followed {
  readonly body: TunnelBody
  readonly watch: WatchRequest
  readonly framing: Framing
  readonly asking: WatchReturn
  readonly signal: AbortSignal
}

async function* follow(
  { body: first, watch, framing, asking, signal }: Followed,
  split: () => FrameSplitter,
): AsyncGenerator<Uint8Array, void, undefined> {
  const position = new WatchPosition(watch)
  let body = first
  for (;;) {
    let fault: unknown
    try {
      using splitter = split()
      for await (const chunk of body) {
        const shown = pass(splitter.push(chunk), { position, framing, watch })
        if (shown.length > 0) yield Buffer.concat(shown)
        if (splitter.isTooLong) throw new Error('Cannot follow watch: an event is too long')
      }
      const rest = splitter.takeRest()
      if (rest.length > 0) yield rest
      return
    } catch (error) {
      fault = error
    }
    const isRefused = signal.reason === accessEnded
    // Nothing reads any more.
    if (signal.aborted && !isRefused) throw fault
    const { version } = position
    const mayReturn = version !== undefined && !isRefused
    const next = mayReturn ? await asking.from(version, framing) : undefined
    if (next === undefined || 'frame' in next) {
      if (next) yield next.frame
      if (mayEnd(position, watch)) return
      throw fault
    }
    body = next.body
  }
}

interface Passing {
  readonly position: WatchPosition
  readonly framing: Framing
  readonly watch: WatchRequest
}

/** Returns those of the events that the client should see. */
function pass(frames: readonly Buffer[], { position, framing, watch }: Passing): Buffer[] {
  return frames.filter((frame) => {
    const head = readEventHead(framing, frame)
    position.onEvent(head)
    return watch.wantsBookmarks || head?.type !== 'BOOKMARK'
  })
}

/**
 * Reports whether a reader can continue from the events that it has seen. If not, the end must not look
 * regular.
 */
function mayEnd({ version, hasFailed, isInitial }: WatchPosition, watch: WatchRequest): boolean {
  if (hasFailed || version !== undefined) return true
  return isInitial && watch.sendInitialEvents === true && watch.wantsBookmarks
}
