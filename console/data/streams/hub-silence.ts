/** Tells a hub that is away from one that answers but has no stream for this tab. Pure. */
import { timeLimits } from '../../limits-table.ts'
import type { StreamState } from './watch-stream.ts'

export interface HubSilence {
  /** `refused`: requests are answered, so that the hub itself is there. */
  readonly is: 'away' | 'refused'
  readonly forMs: number
}

/** Returns undefined for a break that is mended before anybody has read about it. */
export function hubSilence(
  state: StreamState,
  { nowMs, lastAnswerMs }: { readonly nowMs: number; readonly lastAnswerMs: number },
): HubSilence | undefined {
  if (state.is !== 'away') return undefined
  const forMs = nowMs - state.sinceMs
  if (forMs <= timeLimits.quietBreakMs) return undefined
  // The session is asked for after each attempt that fails.
  const isThere = lastAnswerMs > state.sinceMs && nowMs - lastAnswerMs < timeLimits.answerFreshMs
  return { is: isThere ? 'refused' : 'away', forMs }
}
