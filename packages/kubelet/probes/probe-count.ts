import type { Probe } from '@skerry/api'
import type { ProbeResult } from './probe-results.ts'

export const probeKinds = ['startup', 'liveness', 'readiness'] as const
export type ProbeKind = (typeof probeKinds)[number]

export interface ProbeCount {
  readonly last: ProbeResult
  /** The number of consecutive times that the last outcome came. */
  readonly count: number
  readonly result: ProbeResult
}

/** Returns the initial state: alive, but not ready and not started. */
export function initialCount(kind: ProbeKind, known?: ProbeResult): ProbeCount {
  if (known) return { last: 'unknown', count: 0, result: known }
  const result = kind === 'liveness' ? 'success' : kind === 'readiness' ? 'failure' : 'unknown'
  return { last: 'unknown', count: 0, result }
}

/** Counts an outcome. The result changes only when an outcome has come as often in a row as its threshold. */
export function countOutcome(
  before: ProbeCount,
  outcome: 'success' | 'failure',
  { successThreshold = 1, failureThreshold = 3 }: Probe,
): ProbeCount {
  const count = before.last === outcome ? before.count + 1 : 1
  const threshold = outcome === 'success' ? successThreshold : failureThreshold
  return { last: outcome, count, result: count >= threshold ? outcome : before.result }
}
