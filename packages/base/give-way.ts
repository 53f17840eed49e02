import type { Clock } from './clock.ts'

/** All loops of a process together keep what it serves waiting for so long. */
const turnMsMax = 10

interface Turn {
  readonly sinceMs: number
  next?: Promise<void>
}

const turns = new WeakMap<Pick<Clock, 'monotonicMs'>, Turn>()

/**
 * For loops whose steps wait for nothing but promises of this process: thousands of steps would be one turn of
 * the event loop, and no connection is served before its end. To be called after each step. Undefined: go on; else
 * wait for it, which is the next turn, as this one has gone on for 10 ms by the clock.
 */
export function giveWay(clock: Pick<Clock, 'monotonicMs'>): Promise<void> | undefined {
  const nowMs = clock.monotonicMs()
  const turn = turns.get(clock) ?? beginTurn(clock, nowMs)
  if (nowMs - turn.sinceMs < turnMsMax) return undefined
  turn.next ??= new Promise((resolve) => setImmediate(resolve))
  return turn.next
}

function beginTurn(clock: Pick<Clock, 'monotonicMs'>, sinceMs: number): Turn {
  const turn: Turn = { sinceMs }
  turns.set(clock, turn)
  // Before those who wait for the next one go on, as it was asked for first.
  setImmediate(() => turns.delete(clock))
  return turn
}
