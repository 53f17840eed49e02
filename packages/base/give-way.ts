import type { Clock } from './clock.ts'
import { baseBounds } from './limits-table.ts'

const { turnMsMax, restMsMax, idlePassMs } = baseBounds.giveWay

type Time = Pick<Clock, 'monotonicMs'>

interface Turn {
  readonly sinceMs: number
  /** True once one step has taken the turn; see ownTurn. */
  isTaken?: boolean
  rest?: Promise<void>
}

const turns = new WeakMap<Time, Turn>()

/**
 * Lets loops yield whose steps only wait for promises of this process: thousands of steps would be
 * one turn of the event loop, and no connection is served before its end. Call it after each step.
 * Returns undefined if the loop may go on. Otherwise, once the turn has lasted 10 ms by the clock,
 * returns a promise to await: other work then gets half of the time, since a pass of the event loop
 * accepts only one connection.
 */
export function giveWay(clock: Time): Promise<void> | undefined {
  const nowMs = clock.monotonicMs()
  const turn = turns.get(clock) ?? beginTurn(clock, nowMs)
  if (!turn.rest && nowMs - turn.sinceMs < turnMsMax) return undefined
  turn.rest ??= rest(clock)
  return turn.rest
}

/**
 * Call this before a step that alone may take longer than a turn. Resolves in a turn that this step
 * has to itself. A rest follows, however many such steps wait.
 */
export async function ownTurn(clock: Time): Promise<void> {
  for (;;) {
    const nowMs = clock.monotonicMs()
    const turn = turns.get(clock) ?? beginTurn(clock, nowMs)
    if (!turn.rest && !turn.isTaken && nowMs - turn.sinceMs < turnMsMax) {
      turn.isTaken = true
      return
    }
    // The step that has this turn runs before the rest begins.
    turn.rest ??= nextPass().then(() => rest(clock))
    await turn.rest
  }
}

function nextPass(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function beginTurn(clock: Time, sinceMs: number): Turn {
  const turn: Turn = { sinceMs }
  turns.set(clock, turn)
  setImmediate(() => {
    if (!turn.rest) turns.delete(clock)
  })
  return turn
}

function rest(clock: Time): Promise<void> {
  const sinceMs = clock.monotonicMs()
  return new Promise((resolve) => {
    let lastMs = sinceMs
    const pass = (): void => {
      const nowMs = clock.monotonicMs()
      const isServing = nowMs - lastMs > idlePassMs && nowMs - sinceMs < restMsMax
      lastMs = nowMs
      if (isServing) return void setImmediate(pass)
      turns.delete(clock)
      resolve()
    }
    setImmediate(pass)
  })
}
