import type { AnyObject, JsonObject } from '@skerry/api'
import type { InterpreterOperation } from '@skerry/interpreter'

/** A question about a kind that Karmada brings rules for. */
export interface ThirdpartyCase {
  readonly name: string
  readonly operation: Exclude<InterpreterOperation, 'Prune' | 'InterpretComponent'>
  readonly object: AnyObject
  readonly observed?: AnyObject
  readonly replicas?: number
  readonly items?: readonly { readonly clusterName: string; readonly status?: JsonObject }[]
}

interface KindExample {
  readonly key: string
  readonly spec: JsonObject
  /** The first is healthy. */
  readonly statuses: readonly JsonObject[]
  readonly operations: readonly ThirdpartyCase['operation'][]
}

const podTemplate = {
  spec: {
    nodeSelector: { disk: 'ssd' },
    serviceAccountName: 'runner',
    containers: [
      {
        name: 'a',
        resources: { requests: { cpu: '250m', memory: '64Mi' } },
        envFrom: [{ configMapRef: { name: 'settings' } }],
      },
    ],
    volumes: [{ name: 'v', secret: { secretName: 'tls' } }],
  },
}

const workload = [
  'InterpretReplica',
  'ReviseReplica',
  'InterpretStatus',
  'AggregateStatus',
  'InterpretHealth',
  'InterpretDependency',
] as const

const counts = {
  observedGeneration: 3,
  replicas: 3,
  updatedReplicas: 3,
  readyReplicas: 3,
  availableReplicas: 3,
  updatedReadyReplicas: 3,
}

const kruise: readonly KindExample[] = [
  {
    key: 'apps.kruise.io/v1alpha1 CloneSet',
    spec: { replicas: 3, template: podTemplate },
    statuses: [
      {
        ...counts,
        expectedUpdatedReplicas: 3,
        updateRevision: 'b',
        labelSelector: 'a=b',
        other: 1,
      },
      { ...counts, availableReplicas: 2, updateRevision: 'c', currentRevision: 'a' },
      { ...counts, updatedReplicas: 1, availableReplicas: 1 },
      { ...counts, observedGeneration: 2 },
    ],
    operations: workload,
  },
  {
    key: 'apps.kruise.io/v1beta1 StatefulSet',
    spec: { replicas: 3, template: podTemplate },
    statuses: [
      { ...counts, currentReplicas: 1, updateRevision: 'b', other: 1 },
      { ...counts, availableReplicas: 2, currentRevision: 'a' },
    ],
    operations: workload,
  },
  {
    key: 'apps.kruise.io/v1alpha1 DaemonSet',
    spec: { template: podTemplate },
    statuses: [
      {
        observedGeneration: 3,
        desiredNumberScheduled: 2,
        updatedNumberScheduled: 2,
        numberAvailable: 2,
        numberReady: 2,
        daemonSetHash: 'h',
      },
      {
        observedGeneration: 3,
        desiredNumberScheduled: 2,
        updatedNumberScheduled: 1,
        numberAvailable: 1,
        numberUnavailable: 1,
      },
      {
        observedGeneration: 3,
        desiredNumberScheduled: 2,
        updatedNumberScheduled: 2,
        numberAvailable: 1,
      },
    ],
    operations: ['InterpretStatus', 'AggregateStatus', 'InterpretHealth', 'InterpretDependency'],
  },
]

const delivery = [
  'Retain',
  'InterpretStatus',
  'AggregateStatus',
  'InterpretHealth',
  'InterpretDependency',
] as const

function condition(type: string, status: string, reason: string): JsonObject {
  return { type, status, reason, message: `${type} is ${status}` }
}

const artifact = { revision: 'main@sha1:1', digest: 'sha256:2' }

/** Returns statuses that are ready, not ready, ready for another reason, and without conditions. */
function fluxStatuses(reason: string, more: JsonObject): JsonObject[] {
  return [
    {
      observedGeneration: 3,
      conditions: [condition('Ready', 'True', reason), condition('Stored', 'True', 'Stored')],
      ...more,
    },
    { observedGeneration: 2, conditions: [condition('Ready', 'False', 'Failed')] },
    { observedGeneration: 3, conditions: [condition('Ready', 'True', 'Other')], ...more },
    { observedGeneration: 3 },
  ]
}

function source(key: string, spec: JsonObject, status: JsonObject): KindExample {
  const statuses = fluxStatuses('Succeeded', { artifact, ...status })
  return {
    key: `source.toolkit.fluxcd.io/${key}`,
    spec: { interval: '5m', suspend: true, ...spec },
    statuses,
    operations: delivery,
  }
}

const secretRef = { name: 'login' }
const verify = { secretRef: { name: 'keys' } }
const url = 'https://source.example.com/a'

const flux: readonly KindExample[] = [
  source('v1 GitRepository', { secretRef, verify }, { observedIgnore: '*.md', other: 1 }),
  source(
    'v1beta2 OCIRepository',
    { secretRef, verify, certSecretRef: { name: 'ca' }, serviceAccountName: 'puller' },
    { url, observedLayerSelector: { mediaType: 'x' } },
  ),
  source('v1beta2 HelmRepository', { secretRef }, { url }),
  source('v1beta2 Bucket', { secretRef }, { url, observedIgnore: 'x' }),
  source('v1beta2 HelmChart', { verify }, { url, observedChartName: 'web' }),
  {
    key: 'kustomize.toolkit.fluxcd.io/v1 Kustomization',
    spec: {
      suspend: false,
      decryption: { secretRef },
      kubeConfig: { secretRef: { name: 'far' } },
      serviceAccountName: 'applier',
    },
    statuses: fluxStatuses('ReconciliationSucceeded', { lastAppliedRevision: 'main@sha1:1' }),
    operations: delivery,
  },
  {
    key: 'helm.toolkit.fluxcd.io/v2beta1 HelmRelease',
    spec: {
      suspend: true,
      serviceAccountName: 'installer',
      chart: { spec: { verify } },
      kubeConfig: { secretRef: { name: 'far' } },
      valuesFrom: [
        { kind: 'Secret', name: 'values' },
        { kind: 'ConfigMap', name: 'values' },
      ],
    },
    statuses: fluxStatuses('ReconciliationSucceeded', {
      lastAppliedRevision: '1.2.3',
      lastReleaseRevision: 4,
      helmChart: 'a/b',
    }),
    operations: delivery,
  },
]

const argo: readonly KindExample[] = [
  {
    key: 'argoproj.io/v1alpha1 Workflow',
    spec: {
      parallelism: 2,
      suspend: true,
      nodeSelector: { disk: 'ssd' },
      serviceAccountName: 'runner',
      executor: { serviceAccountName: 'executor' },
      imagePullSecrets: [{ name: 'pull' }],
      volumeClaimTemplates: [{ metadata: { name: 'work' } }],
      volumes: [
        { name: 'v', persistentVolumeClaim: { claimName: 'data' } },
        { name: 'w', configMap: { name: 'settings' } },
      ],
    },
    statuses: [{ phase: 'Running' }, { phase: 'Failed' }, { phase: 'Error' }, { phase: '' }],
    operations: [
      'InterpretReplica',
      'ReviseReplica',
      'Retain',
      'InterpretHealth',
      'InterpretDependency',
    ],
  },
]

/** Returns an example of which only the health is known. */
function ofHealth(key: string, ...statuses: readonly JsonObject[]): KindExample {
  return { key, spec: {}, statuses, operations: ['InterpretHealth'] }
}

function inConditions(...conditions: readonly JsonObject[]): JsonObject {
  return { conditions }
}

const succeeded = inConditions(condition('Succeeded', 'True', 'Done'))
const failed = inConditions(condition('Running', 'False', 'Done'), condition('Failed', 'True', 'X'))
const kyverno = [
  { ready: true },
  { ready: false },
  inConditions(condition('Ready', 'True', 'Succeeded')),
  inConditions(condition('Ready', 'True', 'Other')),
  {},
]

function flink(state: string, error = ''): JsonObject {
  return { jobStatus: { state }, error }
}

const others: readonly KindExample[] = [
  {
    key: 'apps.kruise.io/v1alpha1 UnitedDeployment',
    spec: { replicas: 3, template: podTemplate },
    statuses: [counts, { ...counts, updatedReplicas: 2 }, { ...counts, observedGeneration: 1 }],
    operations: ['InterpretReplica', 'ReviseReplica', 'InterpretHealth', 'InterpretDependency'],
  },
  {
    key: 'apps.kruise.io/v1alpha1 BroadcastJob',
    spec: { parallelism: 2, template: { ...podTemplate, metadata: { labels: { a: 'b' } } } },
    statuses: [
      { desired: 2, active: 1, succeeded: 0, failed: 0 },
      { desired: 2, active: 1, succeeded: 0, failed: 1 },
      { desired: 2, active: 0, succeeded: 0, failed: 0 },
      { desired: 0, active: 0, succeeded: 0, failed: 0 },
    ],
    operations: [
      'InterpretReplica',
      'ReviseReplica',
      'Retain',
      'InterpretHealth',
      'InterpretDependency',
    ],
  },
  ofHealth(
    'apps.kruise.io/v1alpha1 SidecarSet',
    { matchedPods: 2, updatedPods: 2 },
    { matchedPods: 2, updatedPods: 1 },
    {},
  ),
  ofHealth(
    'batch.volcano.sh/v1alpha1 Job',
    ...['Running', 'Completed', 'Aborted', 'Failed', ''].map((phase) => ({ state: { phase } })),
    {},
  ),
  ofHealth(
    'sparkoperator.k8s.io/v1beta2 SparkApplication',
    ...['RUNNING', 'COMPLETED', 'FAILED', ''].map((state) => ({ applicationState: { state } })),
    {},
  ),
  ofHealth('kubeflow.org/v1 PyTorchJob', succeeded, failed, inConditions(), {}),
  ofHealth('kubeflow.org/v1 TFJob', succeeded, failed, inConditions(), {}),
  ofHealth('kubeflow.org/v2beta1 MPIJob', succeeded, failed, inConditions(), {}),
  ofHealth(
    'kubeflow.org/v1 Notebook',
    { containerState: { running: { startedAt: '2026-01-01T00:00:00Z' } } },
    { containerState: { waiting: { reason: 'ContainerCreating' } } },
    { containerState: { waiting: { reason: 'ErrImagePull' } } },
    { containerState: { terminated: { reason: 'Completed', exitCode: 0 } } },
    { containerState: { terminated: { reason: 'OOMKilled', exitCode: 0 } } },
    { containerState: { terminated: { exitCode: 3 } } },
    {},
  ),
  ofHealth(
    'ray.io/v1 RayCluster',
    inConditions(
      condition('HeadPodReady', 'True', 'X'),
      condition('RayClusterProvisioned', 'True', 'X'),
    ),
    inConditions(condition('HeadPodReady', 'True', 'X')),
    inConditions(
      condition('HeadPodReady', 'True', 'X'),
      condition('RayClusterProvisioned', 'True', 'X'),
      condition('RayClusterReplicaFailure', 'True', 'X'),
    ),
    {},
  ),
  ofHealth(
    'ray.io/v1 RayJob',
    { jobDeploymentStatus: 'Running' },
    { jobDeploymentStatus: 'Complete', jobStatus: 'SUCCEEDED' },
    { jobDeploymentStatus: 'Complete', jobStatus: 'FAILED' },
    { jobDeploymentStatus: 'Initializing' },
    {},
  ),
  ofHealth(
    'ray.io/v1 RayService',
    inConditions(condition('Ready', 'True', 'X')),
    inConditions(condition('Ready', 'False', 'X')),
    {},
  ),
  ofHealth(
    'flink.apache.org/v1beta1 FlinkDeployment',
    flink('RUNNING'),
    flink('FAILED'),
    flink('RESTARTING'),
    flink('CREATED'),
    flink('RECONCILING', 'x: ErrImagePull: y'),
    flink('UNKNOWN', 'ErrImagePull'),
    { jobManagerDeploymentStatus: 'READY', lifecycleState: 'STABLE' },
    { jobManagerDeploymentStatus: 'READY', lifecycleState: 'DEPLOYED' },
    {},
  ),
  ofHealth('kyverno.io/v1 Policy', ...kyverno),
  ofHealth('kyverno.io/v1 ClusterPolicy', ...kyverno),
]

export const thirdpartyCases: readonly ThirdpartyCase[] = [
  ...kruise,
  ...flux,
  ...argo,
  ...others,
].flatMap(casesOf)

function casesOf({ key, spec, statuses, operations }: KindExample): ThirdpartyCase[] {
  const [apiVersion = '', kind = ''] = key.split(' ')
  const metadata = {
    namespace: 'shop',
    name: 'a',
    generation: 3,
    annotations: { 'resourcetemplate.karmada.io/generation': '3' },
  }
  const template: AnyObject = { apiVersion, kind, metadata, spec }
  const bare: AnyObject = { ...template, spec: withoutSuspend(spec) }
  const [status = {}] = statuses
  const named = (
    operation: ThirdpartyCase['operation'],
    what: string,
    object: AnyObject,
    more: Partial<ThirdpartyCase> = {},
  ): ThirdpartyCase => ({ name: `${key}: ${operation} ${what}`, operation, object, ...more })
  return operations.flatMap((operation) => {
    switch (operation) {
      case 'InterpretHealth':
        return statuses.map((each, at) => named(operation, `${at}`, { ...template, status: each }))
      case 'ReviseReplica':
        return [named(operation, '', template, { replicas: 7 })]
      case 'Retain':
        return [named(operation, '', bare, { observed: { ...template, status } })]
      case 'AggregateStatus':
        return [named(operation, '', template, { items: itemsOf(statuses) })]
      case 'InterpretReplica':
      case 'InterpretStatus':
      case 'InterpretDependency':
        return [named(operation, '', { ...template, status })]
    }
  })
}

function withoutSuspend({ suspend: _suspend, ...spec }: JsonObject): JsonObject {
  return spec
}

/** Returns the items as agents report them, with generations. One agent has reported nothing yet. */
function itemsOf(statuses: readonly JsonObject[]): NonNullable<ThirdpartyCase['items']> {
  const told = statuses.map((status, at) => ({
    clusterName: `edge-${at}`,
    status: { ...status, generation: 3, resourceTemplateGeneration: 3 },
  }))
  return [...told, { clusterName: 'new' }]
}
