import type { JobSpec } from '@skerry/api'
import { warningsOfTemplate } from '../core/pod-warnings/pod-warnings.ts'
import type { Loose } from '../typed-strategy.ts'
import { kindsBounds } from '../../limits-table.ts'

const { completionsMax, parallelismMax } = kindsBounds.jobWarnings

export function warningsOfJobSpec(spec: Loose<JobSpec> = {}, path: string): string[] {
  const { completionMode, completions = 0, parallelism = 0, template } = spec
  const isHuge = completions > completionsMax && parallelism > parallelismMax
  const warnings = warningsOfTemplate(template, `${path}.template`)
  if (completionMode === 'Indexed' && isHuge) {
    const what = 'a number of completions higher than 10^5 and a parallelism higher than 10^4'
    const then = 'might not be able to track completedIndexes when a big number of indexes fail'
    warnings.unshift(`${path}: In Indexed Jobs with ${what}, Kubernetes ${then}`)
  }
  return warnings
}
