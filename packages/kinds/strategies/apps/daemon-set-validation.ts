import {
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type DaemonSet,
  type DaemonSetSpec,
  type StatusCause,
} from '@skerry/api'
import { checkCounters, checkUnchanged, type Found } from '../checks.ts'
import {
  checkPodTemplate,
  checkRunsForever,
  labelsMismatch,
} from '../core/pod-template-validation.ts'
import { checkAtMostAll, checkIntOrPercent, isZero } from '../int-or-percent.ts'
import { checkLabelSelector, isUsableSelector, selects } from '../label-checks.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'
import { checkCollisionCount, checkNotEmptySelector } from '../core/workload-validation.ts'

export function validateDaemonSet(set: LooseObject<DaemonSet>): StatusCause[] {
  const found: Found = []
  const { spec = {} } = set
  const { selector, template = {} } = spec
  checkLabelSelector(selector, 'spec.selector', found)
  const isUsable = isUsableSelector(selector)
  if (isUsable && !selects(selector, template.metadata?.labels ?? {})) {
    found.push(labelsMismatch(template, 'spec.template'))
  }
  if (selector) checkNotEmptySelector(selector, 'daemonset', found)
  checkPodTemplate(template, 'spec.template', found)
  checkRunsForever(template, 'DaemonSet', 'spec.template', found)
  checkCounters(spec, ['minReadySeconds'], 'spec', found)
  checkUpdateStrategy(spec, 'spec.updateStrategy', found)
  checkCounters(spec, ['revisionHistoryLimit'], 'spec', found)
  return found
}

function checkUpdateStrategy(spec: Loose<DaemonSetSpec>, path: string, found: Found): void {
  const { type = '', rollingUpdate } = spec.updateStrategy ?? {}
  if (type === 'OnDelete') return
  if (type !== 'RollingUpdate') {
    const value = { Type: type, RollingUpdate: rollingUpdate ?? null }
    found.push(fieldNotSupported(path, value, ['RollingUpdate', 'OnDelete']))
    return
  }
  const { maxUnavailable, maxSurge } = rollingUpdate ?? {}
  const field = `${path}.rollingUpdate`
  checkIntOrPercent(maxUnavailable, `${field}.maxUnavailable`, found)
  checkIntOrPercent(maxSurge, `${field}.maxSurge`, found)
  checkAtMostAll(maxUnavailable, `${field}.maxUnavailable`, found)
  checkAtMostAll(maxSurge, `${field}.maxSurge`, found)
  if (!isZero(maxUnavailable) && !isZero(maxSurge)) {
    const detail = 'may not be set when maxUnavailable is non-zero'
    found.push(fieldInvalid(`${field}.maxSurge`, maxSurge, detail))
  } else if (isZero(maxUnavailable) && isZero(maxSurge)) {
    found.push(fieldRequired(`${field}.maxUnavailable`, 'cannot be 0 when maxSurge is 0'))
  }
}

export function validateDaemonSetUpdate(
  next: LooseObject<DaemonSet>,
  old: LooseObject<DaemonSet>,
): StatusCause[] {
  const found: Found = []
  checkUnchanged(next.spec?.selector, old.spec?.selector, 'spec.selector', found)
  found.push(...validateDaemonSet(next))
  return found
}

export function validateDaemonSetStatus(
  next: LooseObject<DaemonSet>,
  old: LooseObject<DaemonSet>,
): StatusCause[] {
  const found: Found = []
  const { status = {} } = next
  const counters = [
    'currentNumberScheduled',
    'numberMisscheduled',
    'desiredNumberScheduled',
    'numberReady',
    'observedGeneration',
    'updatedNumberScheduled',
    'numberAvailable',
    'numberUnavailable',
    'collisionCount',
  ] as const
  checkCounters(status, counters, 'status', found)
  checkCollisionCount(status, old.status ?? {}, found)
  return found
}
