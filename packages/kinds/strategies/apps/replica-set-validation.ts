import type { ReplicaSet, StatusCause } from '@skerry/api'
import { checkCounters, checkUnchanged, type Found } from '../checks.ts'
import type { LooseObject } from '../typed-strategy.ts'
import { checkReplicaParts, checkSelectedTemplate } from '../core/workload-validation.ts'

export function validateReplicaSet(set: LooseObject<ReplicaSet>): StatusCause[] {
  const found: Found = []
  const { spec = {} } = set
  checkCounters(spec, ['replicas', 'minReadySeconds'], 'spec', found)
  checkSelectedTemplate(spec, { emptySelector: 'deployment', template: 'ReplicaSet' }, found)
  return found
}

export function validateReplicaSetUpdate(
  next: LooseObject<ReplicaSet>,
  old: LooseObject<ReplicaSet>,
): StatusCause[] {
  const found = validateReplicaSet(next)
  checkUnchanged(next.spec?.selector, old.spec?.selector, 'spec.selector', found)
  return found
}

export function validateReplicaSetStatus(next: LooseObject<ReplicaSet>): StatusCause[] {
  const found: Found = []
  const { status = {} } = next
  const counters = [
    'replicas',
    'fullyLabeledReplicas',
    'readyReplicas',
    'availableReplicas',
    'observedGeneration',
    'terminatingReplicas',
  ] as const
  checkCounters(status, counters, 'status', found)
  checkReplicaParts(status, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'], found)
  return found
}
