/** An object of a story, written on one line. */

export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: Readonly<Record<string, unknown>>
  readonly [field: string]: unknown
}

type Fields = Readonly<Record<string, unknown>>

interface StoryKind {
  readonly apiVersion: string
  readonly plural: string
  readonly isNamespaced: boolean
}

const kinds: Readonly<Record<string, StoryKind>> = Object.freeze({
  Namespace: cluster('v1', 'namespaces'),
  Node: cluster('v1', 'nodes'),
  Pod: namespaced('v1', 'pods'),
  PersistentVolume: cluster('v1', 'persistentvolumes'),
  PersistentVolumeClaim: namespaced('v1', 'persistentvolumeclaims'),
  StorageClass: cluster('storage.k8s.io/v1', 'storageclasses'),
  CSINode: cluster('storage.k8s.io/v1', 'csinodes'),
  CSIDriver: cluster('storage.k8s.io/v1', 'csidrivers'),
  CSIStorageCapacity: namespaced('storage.k8s.io/v1', 'csistoragecapacities'),
  PriorityClass: cluster('scheduling.k8s.io/v1', 'priorityclasses'),
  PodDisruptionBudget: namespaced('policy/v1', 'poddisruptionbudgets'),
  ResourceClaim: namespaced('resource.k8s.io/v1', 'resourceclaims'),
  ResourceClaimTemplate: namespaced('resource.k8s.io/v1', 'resourceclaimtemplates'),
  ResourceSlice: cluster('resource.k8s.io/v1', 'resourceslices'),
  DeviceClass: cluster('resource.k8s.io/v1', 'deviceclasses'),
  ValidatingAdmissionPolicy: cluster(
    'admissionregistration.k8s.io/v1',
    'validatingadmissionpolicies',
  ),
  ValidatingAdmissionPolicyBinding: cluster(
    'admissionregistration.k8s.io/v1',
    'validatingadmissionpolicybindings',
  ),
  Service: namespaced('v1', 'services'),
  ReplicaSet: namespaced('apps/v1', 'replicasets'),
})

function cluster(apiVersion: string, plural: string): StoryKind {
  return { apiVersion, plural, isNamespaced: false }
}

function namespaced(apiVersion: string, plural: string): StoryKind {
  return { apiVersion, plural, isNamespaced: true }
}

/** Throws RangeError for a kind that no story has. */
export function kindOf(kind: string): StoryKind {
  const found = kinds[kind]
  if (found === undefined) throw new RangeError(`Cannot read story: no kind "${kind}" is known`)
  return found
}

export function collectionOf(kind: string, namespace: string): string {
  const { apiVersion, plural, isNamespaced } = kindOf(kind)
  const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
  return isNamespaced ? `${root}/namespaces/${namespace}/${plural}` : `${root}/${plural}`
}

/**
 * Returns the node of `{name, labels, taints, unschedulable, images, cpu, memory, pods, …}`; the rest is
 * allocatable.
 */
export function nodeOf(fields: Fields): { object: Manifest } {
  const { name, labels, annotations, taints, unschedulable, images, features, ...amounts } = fields
  const allocatable = { cpu: '4', memory: '8Gi', pods: '110', ...amounts }
  return {
    object: {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name,
        annotations,
        labels: { 'kubernetes.io/hostname': name, ...asFields(labels) },
      },
      spec: { taints, unschedulable },
      status: { allocatable, capacity: allocatable, images, declaredFeatures: features },
    },
  }
}

export interface PodStep {
  readonly object: Manifest
  readonly status?: object
  readonly isHeld: boolean
}

/**
 * Returns the pod of `{name, labels, owner, cpu, memory, on, priority, status, held, …}`: requests of the one
 * container, the node that it is already on, its class, the name of the ReplicaSet that controls it, whether
 * schedulers leave it alone for now; the rest is spec.
 */
export function podOf(fields: Fields, ownNamespace: string): PodStep {
  const {
    name,
    namespace,
    labels,
    annotations,
    owner,
    cpu,
    memory,
    requests,
    on,
    priority,
    status,
    held,
    ...spec
  } = fields
  const asked = { cpu, memory, ...asFields(requests) }
  const container = { name: 'app', image: 'app:v1', resources: { requests: asked } }
  const controller = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, controller: true }
  const ownerReferences =
    owner === undefined ? undefined : [{ ...controller, uid: `uid-of-${JSON.stringify(owner)}` }]
  return {
    object: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        namespace: namespace ?? ownNamespace,
        labels,
        annotations,
        ownerReferences,
      },
      spec: {
        containers: [container],
        nodeName: on,
        priorityClassName: priority,
        terminationGracePeriodSeconds: 30,
        ...spec,
      },
    },
    ...(typeof status === 'object' && status !== null ? { status } : {}),
    isHeld: held === true,
  }
}

function asFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
