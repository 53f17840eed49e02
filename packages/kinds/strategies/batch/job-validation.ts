import {
  checkDnsLabel,
  cloneJson,
  fieldInvalid,
  fieldRequired,
  type Job,
  type JobSpec,
  type StatusCause,
} from '@skerry/api'
import { checkUnchanged, isSame, type Found } from '../checks.ts'
import { labelsMismatch } from '../core/pod-template-validation.ts'
import { checkLabelSelector, isUsableSelector, selects } from '../label-checks.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'
import { checkJobSpec } from './job-spec-validation.ts'

export function validateJob(job: LooseObject<Job>): StatusCause[] {
  const found: Found = []
  const { spec = {}, metadata } = job
  checkGeneratedSelector(job, found)
  checkSelectedJobSpec(spec, found)
  const { completions = 0 } = spec
  if (spec.completionMode === 'Indexed' && completions > 0) {
    const hostname = `${metadata.name ?? ''}-${completions - 1}`
    if (checkDnsLabel(hostname).length > 0) {
      const detail = `will not able to create pod with invalid DNS label: ${hostname}`
      found.push(fieldInvalid('metadata.name', metadata.name, detail))
    }
  }
  return found
}

function checkGeneratedSelector(job: LooseObject<Job>, found: Found): void {
  const { spec = {}, metadata } = job
  const { selector } = spec
  if (spec.manualSelector === true || !selector) return
  const { uid = '', name = '' } = metadata
  const expected: Record<string, string> = {
    'controller-uid': uid,
    'job-name': name,
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
  }
  const labels = spec.template?.metadata?.labels ?? {}
  for (const [key, value] of Object.entries(expected)) {
    const field = 'spec.template.metadata.labels'
    const actual = labels[key]
    if (actual === undefined) found.push(fieldRequired(`${field}[${key}]`, `must be '${value}'`))
    else if (actual !== value)
      found.push(fieldInvalid(`${field}[${key}]`, labels, `must be '${value}'`))
  }
  if (isUsableSelector(selector) && !selects(selector, expected)) {
    found.push(fieldInvalid('spec.selector', selector, '`selector` not auto-generated'))
  }
}

function checkSelectedJobSpec(spec: Loose<JobSpec>, found: Found): void {
  checkJobSpec(spec, 'spec', found)
  const { selector, template = {} } = spec
  if (selector) checkLabelSelector(selector, 'spec.selector', found)
  else found.push(fieldRequired('spec.selector'))
  if (isUsableSelector(selector) && !selects(selector, template.metadata?.labels ?? {})) {
    found.push(labelsMismatch(template, 'spec.template'))
  }
}

/** The pods of a job are fixed; how many run at once, and whether any do, can change. */
export function validateJobUpdate(next: LooseObject<Job>, old: LooseObject<Job>): StatusCause[] {
  const found: Found = []
  const { spec = {} } = next
  const before = old.spec ?? {}
  checkSelectedJobSpec(spec, found)
  checkCompletions(spec, before, found)
  checkUnchanged(spec.selector, before.selector, 'spec.selector', found)
  checkTemplate(spec, old, found)
  const fixed = [
    'completionMode',
    'podFailurePolicy',
    'backoffLimitPerIndex',
    'managedBy',
    'successPolicy',
  ] as const
  for (const name of fixed) checkUnchanged(spec[name], before[name], `spec.${name}`, found)
  return found
}

function checkCompletions(next: Loose<JobSpec>, old: Loose<JobSpec>, found: Found): void {
  const { completions, parallelism } = next
  if (next.completionMode !== 'Indexed') {
    checkUnchanged(completions, old.completions, 'spec.completions', found)
  } else if (completions !== undefined && completions !== old.completions) {
    if (completions === parallelism) return
    const detail = 'can only be modified in tandem with spec.parallelism'
    found.push(fieldInvalid('spec.completions', completions, detail))
  }
}

/** While a job is suspended and runs no pod, the placement and resources of its pods may still change. */
function checkTemplate(next: Loose<JobSpec>, old: LooseObject<Job>, found: Found): void {
  const before = old.spec?.template ?? {}
  const { template = {} } = next
  if (!isPaused(old)) {
    checkUnchanged(template, before, 'spec.template', found)
    return
  }
  const allowed = cloneJson(before)
  allowed.metadata = {
    ...allowed.metadata,
    labels: template.metadata?.labels,
    annotations: template.metadata?.annotations,
  }
  const spec = (allowed.spec ??= {})
  spec.nodeSelector = template.spec?.nodeSelector
  spec.tolerations = template.spec?.tolerations
  spec.schedulingGates = template.spec?.schedulingGates
  const { affinity } = template.spec ?? {}
  if (affinity || spec.affinity) {
    spec.affinity = { ...spec.affinity, nodeAffinity: affinity?.nodeAffinity }
    const isEmpty = Object.values(spec.affinity).every((part) => part === undefined)
    if (isEmpty && !affinity) delete spec.affinity
  }
  for (const list of ['containers', 'initContainers'] as const) {
    for (const [at, container] of (spec[list] ?? []).entries()) {
      const now = template.spec?.[list]?.[at]
      if (now && now.name === container.name) container.resources = now.resources
    }
  }
  if (isSame(template.spec, allowed.spec)) return
  checkUnchanged(template.spec, allowed.spec, 'spec.template.spec', found)
}

function isPaused(job: LooseObject<Job>): boolean {
  if (job.spec?.suspend !== true) return false
  if (job.status?.startTime === undefined) return true
  const suspended = job.status.conditions?.find(({ type }) => type === 'Suspended')
  return suspended?.status === 'True' && !job.status.active
}
