import { isJsonObject, type AnyObject } from '@skerry/api'
import { countAt, fieldAt, numberAt } from '@skerry/fleet-kinds'
import type { DependentObject } from '../contract/dependent-object.ts'
import type { InterpretedReplicas } from '../contract/resource-interpreter.ts'
import { dependenciesOf } from '../native/dependencies.ts'
import { podRequirements } from '../native/pod-requirements.ts'
import type { KnownKind, KnownKinds } from './known-kind.ts'

const template = ['spec', 'template', 'spec']

function replicasOf(object: AnyObject): InterpretedReplicas {
  const spec = fieldAt(object, ...template)
  const requirements = isJsonObject(spec) ? podRequirements(spec) : undefined
  return {
    replicas: countAt(object, 'spec', 'replicas'),
    ...(requirements ? { requirements } : {}),
  }
}

function podDependencies(object: AnyObject): DependentObject[] {
  const { namespace } = object.metadata
  return dependenciesOf({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: namespace === undefined ? {} : { namespace },
    spec: fieldAt(object, ...template),
  })
}

function count(object: AnyObject, field: string): number {
  return countAt(object, 'status', field)
}

function isObserved(object: AnyObject): boolean {
  return count(object, 'observedGeneration') === (object.metadata.generation ?? 0)
}

function isRolledOut(object: AnyObject): boolean {
  return (
    isObserved(object) &&
    count(object, 'updatedReplicas') >= (numberAt(object, 'spec', 'replicas') ?? 0) &&
    count(object, 'availableReplicas') >= count(object, 'updatedReplicas')
  )
}

const workload: KnownKind = Object.freeze({
  health: isRolledOut,
  replicas: { of: replicasOf, path: ['spec', 'replicas'] },
  dependencies: podDependencies,
})

/** OpenKruise's workloads (openkruise.io). */
export const kruiseKinds: KnownKinds = Object.freeze({
  'apps.kruise.io/v1alpha1 CloneSet': {
    ...workload,
    status: {
      counts: [
        'replicas',
        'updatedReplicas',
        'readyReplicas',
        'availableReplicas',
        'updatedReadyReplicas',
        'expectedUpdatedReplicas',
      ],
      texts: ['updateRevision', 'currentRevision', 'labelSelector'],
    },
  },
  'apps.kruise.io/v1beta1 StatefulSet': {
    ...workload,
    status: {
      counts: [
        'replicas',
        'readyReplicas',
        'currentReplicas',
        'updatedReplicas',
        'availableReplicas',
        'updatedReadyReplicas',
      ],
      texts: ['updateRevision', 'currentRevision'],
    },
  },
  'apps.kruise.io/v1alpha1 DaemonSet': {
    health: (object: AnyObject) =>
      isObserved(object) &&
      count(object, 'updatedNumberScheduled') >= count(object, 'desiredNumberScheduled') &&
      count(object, 'numberAvailable') >= count(object, 'updatedNumberScheduled'),
    dependencies: podDependencies,
    status: {
      counts: [
        'currentNumberScheduled',
        'numberMisscheduled',
        'desiredNumberScheduled',
        'numberReady',
        'updatedNumberScheduled',
        'numberAvailable',
        'numberUnavailable',
      ],
      texts: ['daemonSetHash'],
    },
  },
  'apps.kruise.io/v1alpha1 UnitedDeployment': workload,
  'apps.kruise.io/v1alpha1 BroadcastJob': {
    health: (job: AnyObject) =>
      count(job, 'desired') > 0 &&
      count(job, 'failed') === 0 &&
      count(job, 'succeeded') + count(job, 'active') > 0,
    replicas: {
      of: (job: AnyObject) => ({
        ...replicasOf(job),
        replicas: numberAt(job, 'spec', 'parallelism') ?? 1,
      }),
      path: ['spec', 'parallelism'],
    },
    retained: [['spec', 'template', 'metadata', 'labels']],
    dependencies: podDependencies,
  },
  'apps.kruise.io/v1alpha1 SidecarSet': {
    health: (set: AnyObject) =>
      isJsonObject(fieldAt(set, 'status')) &&
      (count(set, 'matchedPods') === 0 || count(set, 'updatedPods') === count(set, 'matchedPods')),
  },
})
