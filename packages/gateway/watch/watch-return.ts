import { StatusError, isStatusError } from '@skerry/api'
import { accessEnded } from '@skerry/apiserver'
import {
  createBackoff,
  linkedSignal,
  type Backoff,
  type Clock,
  type LinkedSignal,
  type Logger,
  type Random,
} from '@skerry/base'
import {
  TunnelBusyError,
  TunnelClosedError,
  TunnelStreamError,
  TunnelUnavailableError,
  type TunnelBody,
  type TunnelResponse,
} from '@skerry/tunnel'
import type { ClusterWay } from '../way/cluster-way.ts'
import { expiredEvent } from './expired-event.ts'
import type { Framing } from './frame-splitter.ts'
import { framingOf } from './watch-framing.ts'
import type { WatchRequest } from './watch-request.ts'
import { type WatchLimits } from '../limits-table.ts'

/** The continuation of a broken watch: more bytes of it, or one last event. */
export type Continued = { readonly body: TunnelBody } | { readonly frame: Uint8Array }

export interface WatchReturn extends Disposable {
  /** Resolves undefined if the watch is over. Rejects with the signal's reason. */
  from(version: string, framing: Framing): Promise<Continued | undefined>
}

export interface WatchReturnDeps {
  readonly way: Pick<ClusterWay, 'send'>
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep' | 'setTimer'>
  readonly random: Random
  readonly log: Logger
  readonly limits: WatchLimits
}

export interface BrokenWatch {
  readonly cluster: string
  readonly watch: WatchRequest
  /** Throws Unauthorized or Forbidden when the person may no longer watch this. */
  readonly mayGoOn: () => Promise<void>
}

/** Resumes one watch, as often as it breaks, within its time. The time starts here. */
export function createWatchReturn(
  broken: BrokenWatch,
  deps: WatchReturnDeps,
  signal: AbortSignal,
): WatchReturn {
  const { clock, random, limits } = deps
  const { timeoutSeconds } = broken.watch
  const { spreadMs, retryMsMax } = limits
  const backoff = createBackoff({ initialMs: spreadMs, maxMs: retryMsMax, jitter: 0.5 }, random)
  const state: ReturnState = {
    endMs: timeoutSeconds > 0 ? clock.monotonicMs() + timeoutSeconds * 1_000 : Infinity,
    backSinceMs: clock.monotonicMs(),
    giveUpMs: 0,
    scope: undefined,
    backoff,
  }
  return {
    async from(version, framing) {
      try {
        return await comeBack({ version, framing, state, ...broken }, deps, signal)
      } catch (error) {
        if (signal.reason === accessEnded) return undefined
        throw error
      }
    },
    [Symbol.dispose]: () => state.scope?.[Symbol.dispose](),
  }
}

interface ReturnState {
  /** The end of the watch as the client requested it, on the monotonic clock. */
  readonly endMs: number
  readonly backoff: Backoff
  /** The time since which it has run, the last time that it did. */
  backSinceMs: number
  giveUpMs: number
  /** The scope of the request on which the watch has run since it was last resumed. */
  scope: LinkedSignal | undefined
}

interface Returning extends BrokenWatch {
  readonly version: string
  readonly framing: Framing
  readonly state: ReturnState
}

async function comeBack(
  watch: Returning,
  deps: WatchReturnDeps,
  signal: AbortSignal,
): Promise<Continued | undefined> {
  const { clock, random, limits, log } = deps
  const { state, cluster } = watch
  const brokeMs = clock.monotonicMs()
  if (brokeMs - state.backSinceMs >= limits.provenMs || state.giveUpMs === 0) {
    state.giveUpMs = brokeMs + limits.resumeMs
    state.backoff.reset()
  }
  let pauseMs = random.next() * limits.spreadMs
  for (;;) {
    const leftMs = Math.min(state.giveUpMs, state.endMs) - clock.monotonicMs()
    if (leftMs <= 0) return undefined
    await clock.sleep(Math.min(pauseMs, leftMs), signal)
    pauseMs = state.backoff.nextMs()
    const outcome = await tryOnce(watch, deps, signal)
    if (outcome === 'again') continue
    if (outcome === 'over') return undefined
    state.backSinceMs = clock.monotonicMs()
    if ('body' in outcome) {
      log.debug('Watch resumed', { cluster, awayMs: Math.round(state.backSinceMs - brokeMs) })
    }
    return outcome
  }
}

type Outcome = Continued | 'again' | 'over'

async function tryOnce(
  watch: Returning,
  deps: WatchReturnDeps,
  signal: AbortSignal,
): Promise<Outcome> {
  const { clock, limits } = deps
  const { state, cluster, version, framing } = watch
  const endsInMs = state.endMs - clock.monotonicMs()
  if (endsInMs <= 0) return 'over'
  const request = watch.watch.resumed(
    version,
    endsInMs === Infinity ? 0 : Math.ceil(endsInMs / 1_000),
  )
  state.scope?.[Symbol.dispose]()
  const scope = (state.scope = linkedSignal(signal))
  const late = new LateAnswerError(`Cannot resume watch: no answer in ${limits.answerMs} ms`)
  using _late = clock.setTimer(limits.answerMs, () => scope.abort(late))
  try {
    await watch.mayGoOn()
    const answer = await deps.way.send(cluster, request, scope.signal)
    const outcome = await outcomeOf(answer, framing)
    if (typeof outcome === 'string' || 'frame' in outcome) scope.abort(late)
    return outcome
  } catch (error) {
    signal.throwIfAborted()
    if (isStatusError(error, 'Unauthorized') || isStatusError(error, 'Forbidden')) return 'over'
    if (isPassing(error)) return 'again'
    throw error
  }
}

class LateAnswerError extends Error {
  override name = 'LateAnswerError'
}

/** Statuses of a server that is overloaded, starting or stopping. */
const passingStatuses: ReadonlySet<number> = new Set([429, 500, 502, 503, 504])

async function outcomeOf(answer: TunnelResponse, framing: Framing): Promise<Outcome> {
  if (framingOf(answer) === framing) return { body: answer.body }
  if (passingStatuses.has(answer.status)) return 'again'
  const frame = answer.status === 410 ? await expiredEvent(answer, framing) : undefined
  return frame === undefined ? 'over' : { frame }
}

/** Reports whether the error may be gone in a moment. */
function isPassing(error: unknown): boolean {
  return (
    error instanceof TunnelUnavailableError ||
    error instanceof TunnelClosedError ||
    error instanceof TunnelStreamError ||
    error instanceof TunnelBusyError ||
    error instanceof LateAnswerError ||
    error instanceof StatusError
  )
}
