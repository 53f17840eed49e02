import type { AnyObject, JsonObject } from '@skerry/api'

const metadata = {
  name: 'web',
  namespace: 'shop',
  generation: 4,
  uid: '0b6b7bd7-0b0d-4a05-a4b5-5f0d6c1f8e10',
  resourceVersion: '17',
  creationTimestamp: '2026-01-02T03:04:05Z',
  labels: { app: 'web' },
  annotations: { 'resourcetemplate.karmada.io/generation': '3', note: 'x' },
  finalizers: ['shop.example/hold'],
}

const podSpec = {
  serviceAccountName: 'till',
  nodeName: 'node-1',
  nodeSelector: { disk: 'fast' },
  containers: [
    {
      name: 'web',
      image: 'web:v1',
      env: [
        { name: 'A', valueFrom: { secretKeyRef: { name: 'key', key: 'a' } } },
        { name: 'B', valueFrom: { configMapKeyRef: { name: 'settings', key: 'b' } } },
      ],
      envFrom: [{ configMapRef: { name: 'more' } }],
      resources: { requests: { cpu: '250m', memory: '64Mi' }, limits: { cpu: '1' } },
      volumeMounts: [{ name: 'data', mountPath: '/data' }],
    },
  ],
  imagePullSecrets: [{ name: 'pull' }],
  volumes: [
    { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
    { name: 'tls', secret: { secretName: 'tls' } },
  ],
}
const template = { metadata: { labels: { app: 'web' } }, spec: podSpec }
const selector = { matchLabels: { app: 'web' } }
const generations = { generation: 4, resourceTemplateGeneration: 4, observedGeneration: 4 }
const condition = (type: string, time = '2026-01-02T03:04:05Z') => ({
  type,
  status: 'True',
  lastProbeTime: time,
  lastTransitionTime: time,
})
const startedAt = '2026-01-02T03:04:05Z'
const uid = '6ba7b810-9dad-11d1-80b4-00c04fd430c8'

const workloadStatus = {
  observedGeneration: 4,
  replicas: 3,
  updatedReplicas: 3,
  readyReplicas: 2,
  availableReplicas: 2,
  currentReplicas: 1,
}

function object(apiVersion: string, kind: string, rest: object): AnyObject {
  return { apiVersion, kind, metadata, ...rest }
}

/** One object of each kind that Karmada interprets, as a cluster has it. */
export const nativeObjects: readonly AnyObject[] = [
  ...['Deployment', 'ReplicaSet', 'StatefulSet'].map((kind) =>
    object('apps/v1', kind, {
      metadata: {
        ...metadata,
        annotations: { ...metadata.annotations, 'deployment.kubernetes.io/revision': '2' },
      },
      spec: { replicas: 3, selector, template, serviceName: 'web' },
      status: { observedGeneration: 4, replicas: 3, readyReplicas: 2, availableReplicas: 2 },
    }),
  ),
  object('apps/v1', 'DaemonSet', {
    spec: { selector, template },
    status: {
      observedGeneration: 4,
      currentNumberScheduled: 2,
      desiredNumberScheduled: 2,
      numberReady: 2,
      numberMisscheduled: 0,
      updatedNumberScheduled: 2,
      numberAvailable: 2,
    },
  }),
  object('batch/v1', 'Job', {
    spec: {
      parallelism: 3,
      completions: 2,
      ttlSecondsAfterFinished: 60,
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } },
      template: {
        ...template,
        metadata: { labels: { 'batch.kubernetes.io/controller-uid': uid, 'job-name': 'web' } },
      },
    },
    status: { active: 1, ready: 1, startTime: '2026-01-02T03:04:05Z' },
  }),
  object('batch/v1', 'CronJob', {
    spec: { schedule: '* * * * *', jobTemplate: { spec: { template } } },
    status: { lastScheduleTime: '2026-01-02T03:04:00Z' },
  }),
  object('v1', 'Pod', {
    spec: podSpec,
    status: { phase: 'Running', conditions: [condition('Ready')] },
  }),
  object('v1', 'Service', {
    spec: {
      type: 'LoadBalancer',
      clusterIP: '10.96.0.7',
      clusterIPs: ['10.96.0.7'],
      healthCheckNodePort: 30007,
      ports: [{ port: 80 }],
    },
    status: { loadBalancer: { ingress: [{ ip: '203.0.113.7' }] } },
  }),
  object('networking.k8s.io/v1', 'Ingress', {
    spec: { tls: [{ secretName: 'tls' }], defaultBackend: { service: { name: 'web' } } },
    status: { loadBalancer: { ingress: [{ hostname: 'web.example' }] } },
  }),
  object('v1', 'PersistentVolumeClaim', {
    metadata: {
      ...metadata,
      annotations: { ...metadata.annotations, 'volume.kubernetes.io/selected-node': 'node-1' },
    },
    spec: { accessModes: ['ReadWriteOnce'], volumeName: 'pv-1' },
    status: { phase: 'Bound' },
  }),
  object('v1', 'PersistentVolume', {
    metadata: { ...metadata, namespace: undefined },
    spec: { capacity: { storage: '1Gi' }, claimRef: { namespace: 'shop', name: 'data' } },
    status: { phase: 'Bound' },
  }),
  object('policy/v1', 'PodDisruptionBudget', {
    spec: { maxUnavailable: 1, selector },
    status: {
      observedGeneration: 4,
      currentHealthy: 2,
      desiredHealthy: 2,
      expectedPods: 3,
      disruptionsAllowed: 0,
    },
  }),
  object('autoscaling/v2', 'HorizontalPodAutoscaler', {
    spec: { maxReplicas: 5, scaleTargetRef: { kind: 'Deployment', name: 'web' } },
    status: { currentReplicas: 2, desiredReplicas: 3 },
  }),
  object('v1', 'ServiceAccount', { secrets: [{ name: 'web-token-abc' }, { name: 'own' }] }),
  object('v1', 'Secret', { type: 'kubernetes.io/service-account-token', data: { token: 'YQ==' } }),
  object('multicluster.x-k8s.io/v1alpha1', 'ServiceImport', {
    spec: { type: 'ClusterSetIP', ports: [{ port: 80 }] },
    status: { clusters: [{ cluster: 'reef' }] },
  }),
  // A kind without any rule.
  object('v1', 'ConfigMap', { data: { colour: 'green' } }),
].map((each) => JSON.parse(JSON.stringify(each)))

const statuses: Readonly<Record<string, readonly JsonObject[]>> = {
  Deployment: [
    { ...generations, ...workloadStatus, unavailableReplicas: 1 },
    { ...generations, resourceTemplateGeneration: 3, replicas: 2, readyReplicas: 2 },
    { ...generations, observedGeneration: 3, replicas: 1 },
  ],
  ReplicaSet: [
    { ...generations, replicas: 3, readyReplicas: 3, availableReplicas: 3 },
    { ...generations, observedGeneration: 3, replicas: 1 },
  ],
  StatefulSet: [
    { ...generations, replicas: 3, readyReplicas: 3, availableReplicas: 3, currentReplicas: 1 },
    { generation: 4, resourceTemplateGeneration: 4, replicas: 2, updatedReplicas: 2 },
  ],
  DaemonSet: [
    { ...generations, currentNumberScheduled: 2, desiredNumberScheduled: 2, numberReady: 1 },
    { ...generations, numberAvailable: 1, numberUnavailable: 1, updatedNumberScheduled: 2 },
  ],
  Job: [
    { active: 2, startTime: '2026-01-02T03:04:05Z' },
    {
      succeeded: 1,
      startTime: '2026-01-02T03:00:00Z',
      completionTime: '2026-01-02T03:30:00Z',
      conditions: [condition('SuccessCriteriaMet'), condition('Complete')],
    },
    { failed: 1, startTime: '2026-01-02T03:10:00Z', conditions: [condition('Failed')] },
  ],
  CronJob: [
    { active: [{ kind: 'Job', name: 'a' }], lastScheduleTime: '2026-01-02T03:04:00Z' },
    { lastScheduleTime: '2026-01-02T03:05:00Z', lastSuccessfulTime: '2026-01-02T03:04:30Z' },
  ],
  Pod: [
    {
      phase: 'Running',
      containerStatuses: [
        {
          name: 'web',
          ready: true,
          restartCount: 2,
          state: { running: { startedAt } },
          image: 'web:v1',
        },
      ],
      initContainerStatuses: [
        {
          name: 'i',
          ready: true,
          state: { terminated: { exitCode: 0, startedAt, finishedAt: startedAt } },
        },
      ],
    },
    { phase: 'Succeeded' },
    { phase: 'Failed' },
    { phase: 'Unknown' },
  ],
  Service: [
    {
      loadBalancer: { ingress: [{ ip: '203.0.113.9', ipMode: 'VIP' }, { hostname: 'b.example' }] },
    },
    {
      loadBalancer: {
        ingress: [
          { ip: '203.0.113.7', ports: [{ port: 443, protocol: 'TCP' }] },
          { hostname: 'a.example' },
          { hostname: 'b.example', ports: [{ port: 80, protocol: 'TCP' }] },
        ],
      },
    },
    { loadBalancer: {} },
  ],
  Ingress: [
    { loadBalancer: { ingress: [{ ip: '203.0.113.9' }, { hostname: 'b.example' }] } },
    {
      loadBalancer: {
        ingress: [{ hostname: 'b.example', ports: [{ port: 80, protocol: 'TCP' }] }],
      },
    },
  ],
  PersistentVolume: [{ phase: 'Bound' }, { phase: 'Available' }, { phase: 'Failed' }],
  PersistentVolumeClaim: [{ phase: 'Bound' }, { phase: 'Pending' }, { phase: 'Lost' }],
  PodDisruptionBudget: [
    { currentHealthy: 2, desiredHealthy: 2, expectedPods: 3, disruptionsAllowed: 0 },
    { currentHealthy: 1, disruptedPods: { 'web-1': '2026-01-02T03:04:05Z' } },
  ],
  HorizontalPodAutoscaler: [{ currentReplicas: 2, desiredReplicas: 3 }, { currentReplicas: 1 }],
}

/**
 * Returns the statuses that several clusters may report for an object; none for a kind whose statuses stay
 * local.
 */
export function statusesOf({ kind }: AnyObject): readonly JsonObject[] {
  return statuses[kind] ?? []
}

const rolledOut = {
  observedGeneration: 4,
  replicas: 3,
  updatedReplicas: 3,
  readyReplicas: 3,
  availableReplicas: 3,
}

/** The states of a workload's rollout. */
export const rollouts: readonly { readonly what: string; readonly status: JsonObject }[] = [
  { what: 'rolled out', status: rolledOut },
  { what: 'of an older generation', status: { ...rolledOut, observedGeneration: 3 } },
  { what: 'one to be updated', status: { ...rolledOut, updatedReplicas: 2 } },
  { what: 'one not available', status: { ...rolledOut, availableReplicas: 2 } },
]
