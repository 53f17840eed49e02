import {
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  type Deployment,
  type DeploymentSpec,
  type StatusCause,
} from '@skerry/api'
import { checkCounters, checkUnchanged, type Found } from '../checks.ts'
import { checkAtMostAll, checkIntOrPercent, isZero } from '../int-or-percent.ts'
import type { Loose, LooseObject } from '../typed-strategy.ts'
import {
  checkCollisionCount,
  checkReplicaParts,
  checkSelectedTemplate,
} from '../core/workload-validation.ts'

export function validateDeployment(deployment: LooseObject<Deployment>): StatusCause[] {
  const found: Found = []
  const { spec = {} } = deployment
  checkCounters(spec, ['replicas'], 'spec', found)
  checkSelectedTemplate(spec, { emptySelector: 'deployment', template: 'ReplicaSet' }, found)
  checkStrategy(spec, 'spec.strategy', found)
  const counters = ['minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds'] as const
  checkCounters(spec, counters, 'spec', found)
  const { progressDeadlineSeconds: seconds, minReadySeconds = 0 } = spec
  if (seconds !== undefined && seconds <= minReadySeconds) {
    const detail = 'must be greater than minReadySeconds'
    found.push(fieldInvalid('spec.progressDeadlineSeconds', seconds, detail))
  }
  return found
}

function checkStrategy(spec: Loose<DeploymentSpec>, path: string, found: Found): void {
  const { type = '', rollingUpdate } = spec.strategy ?? {}
  if (type === 'Recreate') {
    if (!rollingUpdate) return
    const detail = "may not be specified when strategy `type` is 'Recreate'"
    found.push(fieldForbidden(`${path}.rollingUpdate`, detail))
  } else if (type !== 'RollingUpdate') {
    const value = { Type: type, RollingUpdate: rollingUpdate ?? null }
    found.push(fieldNotSupported(path, value, ['Recreate', 'RollingUpdate']))
  } else {
    const { maxUnavailable, maxSurge } = rollingUpdate ?? {}
    const field = `${path}.rollingUpdate`
    checkIntOrPercent(maxUnavailable, `${field}.maxUnavailable`, found)
    checkIntOrPercent(maxSurge, `${field}.maxSurge`, found)
    if (isZero(maxUnavailable) && isZero(maxSurge)) {
      const detail = 'may not be 0 when `maxSurge` is 0'
      found.push(fieldInvalid(`${field}.maxUnavailable`, maxUnavailable, detail))
    }
    checkAtMostAll(maxUnavailable, `${field}.maxUnavailable`, found)
  }
}

export function validateDeploymentUpdate(
  next: LooseObject<Deployment>,
  old: LooseObject<Deployment>,
): StatusCause[] {
  const found = validateDeployment(next)
  checkUnchanged(next.spec?.selector, old.spec?.selector, 'spec.selector', found)
  return found
}

export function validateDeploymentStatus(
  next: LooseObject<Deployment>,
  old: LooseObject<Deployment>,
): StatusCause[] {
  const found: Found = []
  const { status = {} } = next
  const counters = [
    'observedGeneration',
    'replicas',
    'updatedReplicas',
    'readyReplicas',
    'availableReplicas',
    'unavailableReplicas',
    'terminatingReplicas',
    'collisionCount',
  ] as const
  checkCounters(status, counters, 'status', found)
  checkReplicaParts(status, ['updatedReplicas', 'readyReplicas', 'availableReplicas'], found)
  checkCollisionCount(status, old.status ?? {}, found)
  return found
}
