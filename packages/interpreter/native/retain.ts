import type { AnyObject } from '@skerry/api'
import { karmadaKeys } from '@skerry/karmada-kinds'
import { fieldAt, kindKey, numberAt, objectsAt, textAt, withField } from '@skerry/fleet-kinds'

/**
 * Returns the desired object, plus the fields that the cluster itself has set and an update must not remove:
 * addresses, bindings, an autoscaler's replicas. Throws if the object lacks a field to retain.
 */
export function retained(desired: AnyObject, observed: AnyObject): AnyObject {
  return rules[kindKey(desired)]?.(desired, observed) ?? desired
}

/** Reports whether clusters set fields of this kind. */
export function hasRetainRule(object: AnyObject): boolean {
  return kindKey(object) in rules
}

type RetainRule = (desired: AnyObject, observed: AnyObject) => AnyObject

const rules: Readonly<Record<string, RetainRule>> = Object.freeze({
  'apps/v1 Deployment': retainReplicas,
  'batch/v1 Job': (desired, observed) =>
    keep(desired, observed, [
      ['spec', 'selector', 'matchLabels'],
      ['spec', 'template', 'metadata', 'labels'],
    ]),
  'v1 Pod': retainPod,
  'v1 Service': retainService,
  'v1 ServiceAccount': (desired, observed) =>
    ['secrets', 'imagePullSecrets'].reduce(
      (left, field) => retainReferences(left, observed, field),
      desired,
    ),
  'v1 PersistentVolumeClaim': (desired, observed) =>
    textAt(observed, 'spec', 'volumeName') === ''
      ? desired
      : keep(desired, observed, [['spec', 'volumeName']]),
  'v1 PersistentVolume': (desired, observed) => keep(desired, observed, [['spec', 'claimRef']]),
  'v1 Secret': (desired, observed) =>
    desired['type'] === 'kubernetes.io/service-account-token'
      ? keep(desired, observed, [['data']])
      : desired,
})

/** Copies the observed values at these paths, if any. */
function keep(
  desired: AnyObject,
  observed: AnyObject,
  paths: readonly (readonly string[])[],
): AnyObject {
  return paths.reduce((left, path) => {
    const value = fieldAt(observed, ...path)
    return value === undefined ? left : withField(left, path, value)
  }, desired)
}

function retainReplicas(desired: AnyObject, observed: AnyObject): AnyObject {
  if (desired.metadata.labels?.[karmadaKeys.retainReplicas] !== 'true') return desired
  const replicas = numberAt(observed, 'spec', 'replicas')
  if (replicas !== undefined) return withField(desired, ['spec', 'replicas'], replicas)
  const { kind, metadata } = observed
  throw new Error(
    `Cannot retain replicas of ${kind} "${metadata.namespace ?? ''}/${metadata.name ?? ''}": it has no spec.replicas`,
  )
}

/** Retains volumes and mounts of the token that the API server adds to each pod. */
function retainPod(desired: AnyObject, observed: AnyObject): AnyObject {
  const kept = keep(desired, observed, [
    ['spec', 'nodeName'],
    ['spec', 'serviceAccountName'],
    ['spec', 'volumes'],
  ])
  return ['containers', 'initContainers'].reduce((left, field) => {
    const wanted = objectsAt(left, 'spec', field)
    if (wanted.length === 0) return left
    const there = new Map(
      objectsAt(observed, 'spec', field).map((each) => [textAt(each, 'name'), each]),
    )
    const containers = wanted.map((container) => {
      const mounts = there.get(textAt(container, 'name'))?.['volumeMounts']
      return mounts === undefined ? container : { ...container, volumeMounts: mounts }
    })
    return withField(left, ['spec', field], containers)
  }, kept)
}

function retainService(desired: AnyObject, observed: AnyObject): AnyObject {
  const port = numberAt(observed, 'spec', 'healthCheckNodePort') ?? 0
  const address = textAt(observed, 'spec', 'clusterIP')
  return keep(desired, observed, [
    ...(port > 0 ? [['spec', 'healthCheckNodePort']] : []),
    ...(address === '' ? [] : [['spec', 'clusterIP']]),
  ])
}

/** Keeps the desired references first, then those that the cluster has added. */
function retainReferences(desired: AnyObject, observed: AnyObject, field: string): AnyObject {
  const wanted = objectsAt(desired, field)
  const names = new Set(wanted.map((each) => textAt(each, 'name')))
  const added = objectsAt(observed, field).filter((each) => !names.has(textAt(each, 'name')))
  if (added.length === 0) return desired
  return withField(desired, [field], [...wanted, ...added])
}
