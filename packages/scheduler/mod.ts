/**
 * scheduler: finds a node for each pod that has none. Queue, filters, scores, bind; decisions are
 * pure (plan-placement.ts) and see a snapshot. It does not evict: preemption is left to a later
 * release, and a pod that would need it says so in its event.
 * Start reading at scheduler.ts, then plan-placement.ts and default-plugins.ts.
 */
export { runScheduler, schedulerName, type SchedulerDeps } from './scheduler.ts'
