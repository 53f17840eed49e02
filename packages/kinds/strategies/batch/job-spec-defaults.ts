import type { JobSpec } from '@skerry/api'
import { applyPodTemplateDefaults } from '../core/pod-spec-defaults.ts'
import type { Loose } from '../typed-strategy.ts'

const int32Max = 2_147_483_647

/** For a Job. A CronJob's template gets only the defaults of its pod template and failure policy. */
export function applyJobSpecDefaults(spec: Loose<JobSpec>): void {
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1
  spec.parallelism ??= 1
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : int32Max
  spec.completionMode ??= 'NonIndexed'
  spec.suspend ??= false
  spec.podReplacementPolicy ??= spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed'
  spec.manualSelector ??= false
  applyJobTemplateSpecDefaults(spec)
}

export function applyJobTemplateSpecDefaults(spec: Loose<JobSpec>): void {
  applyPodTemplateDefaults((spec.template ??= {}))
  for (const rule of spec.podFailurePolicy?.rules ?? []) {
    for (const pattern of rule.onPodConditions ?? []) pattern.status ||= 'True'
  }
}
