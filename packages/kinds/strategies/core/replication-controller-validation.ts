import { fieldRequired, type ReplicationController, type StatusCause } from '@skerry/api'
import { checkReplicaParts } from './workload-validation.ts'
import { checkCounters, type Found } from '../checks.ts'
import type { LooseObject } from '../typed-strategy.ts'
import { checkPodTemplate, checkRunsForever, labelsMismatch } from './pod-template-validation.ts'

export function validateReplicationController(
  controller: LooseObject<ReplicationController>,
): StatusCause[] {
  const found: Found = []
  const { spec = {} } = controller
  checkCounters(spec, ['minReadySeconds'], 'spec', found)
  const selector = Object.entries(spec.selector ?? {})
  if (selector.length === 0) found.push(fieldRequired('spec.selector'))
  checkCounters(spec, ['replicas'], 'spec', found)
  const { template } = spec
  if (!template) {
    found.push(fieldRequired('spec.template'))
    return found
  }
  const labels = template.metadata?.labels ?? {}
  if (selector.some(([key, value]) => labels[key] !== value)) {
    found.push(labelsMismatch(template, 'spec.template'))
  }
  checkPodTemplate(template, 'spec.template', found)
  checkRunsForever(template, 'ReplicationController', 'spec.template', found)
  return found
}

export function validateReplicationControllerStatus(
  next: LooseObject<ReplicationController>,
): StatusCause[] {
  const found: Found = []
  const { status = {} } = next
  const counters = [
    'replicas',
    'fullyLabeledReplicas',
    'readyReplicas',
    'availableReplicas',
    'observedGeneration',
  ] as const
  checkCounters(status, counters, 'status', found)
  checkReplicaParts(status, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'], found)
  return found
}
