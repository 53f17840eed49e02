import type { AnyObject } from '@skerry/api'
import type { ResourceHealth } from '@skerry/karmada-kinds'
import { countAt, kindKey, numberAt, objectsAt, textAt } from '@skerry/fleet-kinds'

type HealthRule = (object: AnyObject) => boolean

/** Returns an object's health, from its status. A kind without a rule is healthy as soon as it exists. */
export function healthOf(object: AnyObject): ResourceHealth {
  const rule = rules[kindKey(object)]
  return rule === undefined || rule(object) ? 'Healthy' : 'Unhealthy'
}

/** Reports whether this kind has a rule for health. */
export function hasHealthRule(object: AnyObject): boolean {
  return kindKey(object) in rules
}

const rules: Readonly<Record<string, HealthRule>> = Object.freeze({
  'apps/v1 Deployment': isRolledOut,
  'apps/v1 StatefulSet': isRolledOut,
  'apps/v1 ReplicaSet': (object) =>
    isObserved(object) && count(object, 'availableReplicas') >= wantedReplicas(object),
  'apps/v1 DaemonSet': (object) =>
    isObserved(object) &&
    count(object, 'updatedNumberScheduled') >= count(object, 'desiredNumberScheduled') &&
    count(object, 'numberAvailable') >= count(object, 'updatedNumberScheduled'),
  'v1 Service': (object) =>
    textAt(object, 'spec', 'type') !== 'LoadBalancer' || hasLoadBalancer(object),
  'networking.k8s.io/v1 Ingress': hasLoadBalancer,
  'v1 PersistentVolumeClaim': (object) => textAt(object, 'status', 'phase') === 'Bound',
  'v1 Pod': isPodHealthy,
  'policy/v1 PodDisruptionBudget': (object) =>
    count(object, 'currentHealthy') >= count(object, 'desiredHealthy'),
})

function count(object: AnyObject, field: string): number {
  return countAt(object, 'status', field)
}

function isObserved(object: AnyObject): boolean {
  return count(object, 'observedGeneration') === (object.metadata.generation ?? 0)
}

/** A count that is not asked for is not waited for. */
function wantedReplicas(object: AnyObject): number {
  return numberAt(object, 'spec', 'replicas') ?? 0
}

function isRolledOut(object: AnyObject): boolean {
  return (
    isObserved(object) &&
    count(object, 'updatedReplicas') >= wantedReplicas(object) &&
    count(object, 'availableReplicas') >= count(object, 'updatedReplicas')
  )
}

function hasLoadBalancer(object: AnyObject): boolean {
  return objectsAt(object, 'status', 'loadBalancer', 'ingress').some(
    (ingress) => textAt(ingress, 'hostname') !== '' || textAt(ingress, 'ip') !== '',
  )
}

function isPodHealthy(pod: AnyObject): boolean {
  const phase = textAt(pod, 'status', 'phase')
  if (phase === 'Succeeded') return true
  const ready = objectsAt(pod, 'status', 'conditions').find(
    (condition) => textAt(condition, 'type') === 'Ready',
  )
  return phase === 'Running' && textAt(ready, 'status') === 'True'
}
