import { performance, type EventLoopUtilization } from 'node:perf_hooks'

/** Says which share of the time since it was last asked the event loop had work, 0 to 1. */
export function busyMeter(): () => number {
  let last: EventLoopUtilization = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    return utilization
  }
}
