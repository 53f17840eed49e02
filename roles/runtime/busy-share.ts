import { performance, type EventLoopUtilization } from 'node:perf_hooks'

/**
 * Returns a function that reports the share of time since its last call in which the event loop was busy, 0
 * to 1.
 */
export function busyMeter(): () => number {
  let last: EventLoopUtilization = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    return utilization
  }
}
