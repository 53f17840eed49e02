import {
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
  type JobSpec,
} from '@skerry/api'
import { checkCounters, checkOneOf, type Found } from '../checks.ts'
import { checkPodTemplate } from '../core/pod-template-validation.ts'
import { checkDomainPrefixedPath } from '../domain-prefixed-path.ts'
import type { Loose } from '../typed-strategy.ts'
import { checkFailurePolicy, checkSuccessPolicy } from './job-policy-validation.ts'
import { kindsBounds } from '../../limits-table.ts'

const limits = kindsBounds.jobSpecValidation

/** Checks the spec of a job, or of the jobs that a cron job creates. */
export function checkJobSpec(spec: Loose<JobSpec>, path: string, found: Found): void {
  const counters = [
    'parallelism',
    'completions',
    'activeDeadlineSeconds',
    'backoffLimit',
    'ttlSecondsAfterFinished',
    'backoffLimitPerIndex',
    'maxFailedIndexes',
  ] as const
  checkCounters(spec, counters, path, found)
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    const detail = 'when maxFailedIndexes is specified'
    found.push(fieldRequired(`${path}.backoffLimitPerIndex`, detail))
  }
  if (spec.managedBy !== undefined) {
    checkDomainPrefixedPath(spec.managedBy, `${path}.managedBy`, found)
    if (spec.managedBy.length > limits.managedByBytes) {
      found.push(fieldTooLong(`${path}.managedBy`, limits.managedByBytes))
    }
  }
  const modes = ['NonIndexed', 'Indexed']
  checkOneOf(spec.completionMode, modes, `${path}.completionMode`, found)
  if (spec.completionMode === 'Indexed') checkIndexed(spec, path, found)
  else if ((spec.completionMode ?? 'NonIndexed') === 'NonIndexed')
    checkNonIndexed(spec, path, found)
  checkPolicies(spec, path, found)
  checkPodTemplate(spec.template ?? {}, `${path}.template`, found)
  checkRestartPolicy(spec, `${path}.template.spec.restartPolicy`, found)
}

function checkIndexed(spec: Loose<JobSpec>, path: string, found: Found): void {
  const { completions, parallelism = 0, maxFailedIndexes } = spec
  if (completions === undefined) {
    found.push(fieldRequired(`${path}.completions`, 'when completion mode is Indexed'))
  }
  if (parallelism > limits.indexedParallelism) {
    const detail = `must be less than or equal to ${limits.indexedParallelism} when completion mode is Indexed`
    found.push(fieldInvalid(`${path}.parallelism`, parallelism, detail))
  }
  const field = `${path}.maxFailedIndexes`
  if (completions !== undefined && (maxFailedIndexes ?? 0) > completions) {
    const detail = 'must be less than or equal to completions'
    found.push(fieldInvalid(field, maxFailedIndexes, detail))
  }
  if ((maxFailedIndexes ?? 0) > limits.indexedFailures) {
    const detail = `must be less than or equal to ${limits.indexedFailures}`
    found.push(fieldInvalid(field, maxFailedIndexes, detail))
  }
  if ((completions ?? 0) <= limits.completions || spec.backoffLimitPerIndex === undefined) return
  const above = `when completions are above ${limits.completions} and used with backoff limit per index`
  if (maxFailedIndexes === undefined) {
    const detail = `must be specified when completions is above ${limits.completions}`
    found.push(fieldRequired(field, detail))
  }
  if (parallelism > limits.parallelismAbove) {
    const detail = `must be less than or equal to ${limits.parallelismAbove} ${above}`
    found.push(fieldInvalid(`${path}.parallelism`, parallelism, detail))
  }
  if ((maxFailedIndexes ?? 0) > limits.failuresAbove) {
    const detail = `must be less than or equal to ${limits.failuresAbove} ${above}`
    found.push(fieldInvalid(field, maxFailedIndexes, detail))
  }
}

function checkNonIndexed(spec: Loose<JobSpec>, path: string, found: Found): void {
  for (const name of ['backoffLimitPerIndex', 'maxFailedIndexes'] as const) {
    const value = spec[name]
    if (value === undefined) continue
    found.push(fieldInvalid(`${path}.${name}`, value, 'requires indexed completion mode'))
  }
}

function checkPolicies(spec: Loose<JobSpec>, path: string, found: Found): void {
  if (spec.podFailurePolicy) checkFailurePolicy(spec, `${path}.podFailurePolicy`, found)
  if (spec.successPolicy) {
    const field = `${path}.successPolicy`
    if (spec.completionMode === 'Indexed') {
      checkSuccessPolicy(spec, field, found)
    } else {
      const shown = { Rules: spec.successPolicy.rules ?? [] }
      found.push(fieldInvalid(field, shown, 'requires indexed completion mode'))
    }
  }
  const replacements = spec.podFailurePolicy ? ['Failed'] : ['Failed', 'TerminatingOrFailed']
  checkOneOf(spec.podReplacementPolicy, replacements, `${path}.podReplacementPolicy`, found)
}

function checkRestartPolicy(spec: Loose<JobSpec>, field: string, found: Found): void {
  const { restartPolicy = '' } = spec.template?.spec ?? {}
  if (restartPolicy === '' || restartPolicy === 'Always') {
    found.push(fieldRequired(field, 'valid values: "OnFailure", "Never"'))
  } else if (restartPolicy !== 'OnFailure' && restartPolicy !== 'Never') {
    found.push(fieldNotSupported(field, restartPolicy, ['OnFailure', 'Never']))
  } else if (spec.podFailurePolicy && restartPolicy !== 'Never') {
    const detail = 'only "Never" is supported when podFailurePolicy is specified'
    found.push(fieldInvalid(field, restartPolicy, detail))
  }
}
