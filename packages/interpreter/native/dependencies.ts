import type { AnyObject } from '@skerry/api'
import { fieldAt, kindKey, objectsAt, textAt } from '@skerry/fleet-kinds'
import type { DependentObject } from '../contract/dependent-object.ts'

/**
 * Returns the objects that must go wherever this object goes, without duplicates; none for a kind without
 * dependencies.
 */
export function dependenciesOf(object: AnyObject): DependentObject[] {
  return rules[kindKey(object)]?.(object) ?? []
}

/** Reports whether this kind may have dependencies. */
export function hasDependencyRule(object: AnyObject): boolean {
  return kindKey(object) in rules
}

type DependencyRule = (object: AnyObject) => DependentObject[]

const ofTemplate = ofPodAt(['spec', 'template', 'spec'])

const rules: Readonly<Record<string, DependencyRule>> = Object.freeze({
  'apps/v1 Deployment': ofTemplate,
  'apps/v1 ReplicaSet': ofTemplate,
  'apps/v1 DaemonSet': ofTemplate,
  'apps/v1 StatefulSet': ofStatefulSet,
  'batch/v1 Job': ofTemplate,
  'batch/v1 CronJob': ofPodAt(['spec', 'jobTemplate', 'spec', 'template', 'spec']),
  'v1 Pod': ofPodAt(['spec']),
  'networking.k8s.io/v1 Ingress': (ingress) =>
    named(ingress, 'Secret', textsOf(objectsAt(ingress, 'spec', 'tls'), ['secretName'])),
  'multicluster.x-k8s.io/v1alpha1 ServiceImport': ofServiceImport,
})

function ofPodAt(path: readonly string[]): DependencyRule {
  return (object) => {
    const pod = fieldAt(object, ...path)
    const account = textAt(pod, 'serviceAccountName')
    return [
      ...named(object, 'ConfigMap', configMapsOf(pod)),
      ...named(object, 'Secret', secretsOf(pod)),
      ...named(object, 'ServiceAccount', account === 'default' ? [] : [account]),
      ...named(
        object,
        'PersistentVolumeClaim',
        textsOf(objectsAt(pod, 'volumes'), ['persistentVolumeClaim', 'claimName']),
      ),
    ]
  }
}

function named({ metadata }: AnyObject, kind: string, names: readonly string[]): DependentObject[] {
  const { namespace = '' } = metadata
  const once = [...new Set(names)].filter((name) => name !== '')
  return once.map((name) => ({ apiVersion: 'v1', kind, namespace, name }))
}

function textsOf(objects: readonly unknown[], path: readonly string[]): string[] {
  return objects.map((each) => textAt(each, ...path))
}

function containersOf(pod: unknown): unknown[] {
  return ['initContainers', 'containers', 'ephemeralContainers'].flatMap((field) =>
    objectsAt(pod, field),
  )
}

function projectedOf(pod: unknown): unknown[] {
  return objectsAt(pod, 'volumes').flatMap((volume) => objectsAt(volume, 'projected', 'sources'))
}

function configMapsOf(pod: unknown): string[] {
  const containers = containersOf(pod)
  const from = containers.flatMap((each) => objectsAt(each, 'envFrom'))
  const env = containers.flatMap((each) => objectsAt(each, 'env'))
  return [
    ...textsOf(from, ['configMapRef', 'name']),
    ...textsOf(env, ['valueFrom', 'configMapKeyRef', 'name']),
    ...textsOf(objectsAt(pod, 'volumes'), ['configMap', 'name']),
    ...textsOf(projectedOf(pod), ['configMap', 'name']),
  ]
}

/** The volume sources that name a Secret, and the path of its name. */
const volumeSecrets = [
  ['azureFile', 'secretName'],
  ['cephfs', 'secretRef', 'name'],
  ['cinder', 'secretRef', 'name'],
  ['flexVolume', 'secretRef', 'name'],
  ['rbd', 'secretRef', 'name'],
  ['secret', 'secretName'],
  ['scaleIO', 'secretRef', 'name'],
  ['iscsi', 'secretRef', 'name'],
  ['storageos', 'secretRef', 'name'],
  ['csi', 'nodePublishSecretRef', 'name'],
]

function secretsOf(pod: unknown): string[] {
  const containers = containersOf(pod)
  const from = containers.flatMap((each) => objectsAt(each, 'envFrom'))
  const env = containers.flatMap((each) => objectsAt(each, 'env'))
  return [
    ...textsOf(objectsAt(pod, 'imagePullSecrets'), ['name']),
    ...textsOf(from, ['secretRef', 'name']),
    ...textsOf(env, ['valueFrom', 'secretKeyRef', 'name']),
    ...volumeSecrets.flatMap((path) => textsOf(objectsAt(pod, 'volumes'), path)),
    ...textsOf(projectedOf(pod), ['secret', 'name']),
  ]
}

/** Leaves out claims that the set creates from its own templates, wherever it runs. */
function ofStatefulSet(set: AnyObject): DependentObject[] {
  const own = new Set(textsOf(objectsAt(set, 'spec', 'volumeClaimTemplates'), ['metadata', 'name']))
  return ofTemplate(set).filter(
    ({ kind, name = '' }) => kind !== 'PersistentVolumeClaim' || !own.has(name),
  )
}

function ofServiceImport({ metadata }: AnyObject): DependentObject[] {
  const { namespace = '', name = '' } = metadata
  const derived = `derived-${name}`
  return [
    { apiVersion: 'v1', kind: 'Service', namespace, name: derived },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      namespace,
      labelSelector: { matchLabels: { 'kubernetes.io/service-name': derived } },
    },
  ]
}
