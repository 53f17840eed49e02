/**
 * scheduler: finds a node for each pod that has none. Queue, filters, scores, preemption, bind.
 * Decisions are pure functions of a snapshot (plan-placement.ts, plan-preemption.ts).
 * Start reading at scheduler.ts, then plan-placement.ts and default-plugins.ts.
 */
export { runScheduler } from './scheduler.ts'
export { parseSchedulerConfiguration, type SchedulerConfiguration } from './configuration.ts'
