import { fieldInvalid, fieldRequired, type PodTemplateSpec } from '@skerry/api'
import type { Found } from '../checks.ts'
import { checkPodTemplate, checkRunsForever, labelsMismatch } from './pod-template-validation.ts'
import {
  checkLabelSelector,
  isEmptySelector,
  isUsableSelector,
  selects,
  type SelectorFields,
} from '../label-checks.ts'
import type { Loose } from '../typed-strategy.ts'

interface Workload {
  selector?: Loose<SelectorFields>
  template?: Loose<PodTemplateSpec>
}

interface WorkloadNames {
  /** Upstream's message for an empty selector. */
  readonly emptySelector: string
  readonly template: string
}

/** Checks deployments and replica sets: there is a selector, it is not empty, and it selects its own pods. */
export function checkSelectedTemplate(spec: Workload, names: WorkloadNames, found: Found): void {
  const { selector, template = {} } = spec
  if (!selector) {
    found.push(fieldRequired('spec.selector'))
  } else {
    checkLabelSelector(selector, 'spec.selector', found)
    checkNotEmptySelector(selector, names.emptySelector, found)
  }
  if (selector && !isUsableSelector(selector)) {
    found.push(fieldInvalid('spec.selector', selector, 'invalid label selector'))
    return
  }
  checkOwnLabels(spec, found)
  checkPodTemplate(template, 'spec.template', found)
  checkRunsForever(template, names.template, 'spec.template', found)
}

export function checkNotEmptySelector(
  selector: Loose<SelectorFields>,
  kind: string,
  found: Found,
): void {
  if (!isEmptySelector(selector)) return
  found.push(fieldInvalid('spec.selector', selector, `empty selector is invalid for ${kind}`))
}

/** The template's labels must let the controller find its pods again. */
export function checkOwnLabels(spec: Workload, found: Found): void {
  const { selector, template = {} } = spec
  // A missing selector selects nothing, which is reported once and not for each missed pod.
  if (selector && isEmptySelector(selector)) return
  if (selects(selector, template.metadata?.labels ?? {})) return
  found.push(labelsMismatch(template, 'spec.template'))
}

interface StatusCounts {
  replicas?: number
  readyReplicas?: number
  availableReplicas?: number
  collisionCount?: number
}

/** No part of the replicas can exceed the total. */
export function checkReplicaParts<T extends StatusCounts>(
  status: T,
  parts: readonly (keyof T & string)[],
  found: Found,
): void {
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status
  for (const part of parts) {
    const value = status[part]
    if (typeof value !== 'number' || value <= replicas) continue
    const detail = 'cannot be greater than status.replicas'
    found.push(fieldInvalid(`status.${part}`, value, detail))
  }
  if (availableReplicas > readyReplicas) {
    const detail = 'cannot be greater than readyReplicas'
    found.push(fieldInvalid('status.availableReplicas', availableReplicas, detail))
  }
}

export function checkCollisionCount(next: StatusCounts, old: StatusCounts, found: Found): void {
  if (old.collisionCount === undefined || (next.collisionCount ?? 0) >= old.collisionCount) return
  const value = next.collisionCount ?? 0
  found.push(fieldInvalid('status.collisionCount', value, 'cannot be decremented'))
}
