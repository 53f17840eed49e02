import { simulatedClock, type Clock, type SimulatedClock } from '@skerry/base'

/** A simulated clock, and the same one counting the timers that are set through it. */
export function countingClock(): {
  readonly clock: SimulatedClock
  readonly counting: Clock
  readonly timers: () => number
} {
  const clock = simulatedClock()
  let timers = 0
  const counting: Clock = {
    ...clock,
    setTimer: (...timer: Parameters<Clock['setTimer']>) => {
      timers += 1
      return clock.setTimer(...timer)
    },
  }
  return { clock, counting, timers: () => timers }
}
