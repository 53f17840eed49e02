import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deployment, Pod } from '@skerry/api'
import { resources } from '@skerry/client'
import { startTestApiServer } from '@skerry/testing'
import { startControllerWorld } from './testing/controller-world.ts'

const namespace = 'default'

function template(image: string, app: string): NonNullable<Deployment['spec']>['template'] {
  return {
    metadata: { labels: { app } },
    spec: { containers: [{ name: 'main', image }] },
  }
}

function deployment(replicas: number): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace },
    spec: { replicas, selector: { matchLabels: { app: 'web' } }, template: template('a:1', 'web') },
  }
}

const images = (pods: readonly Pod[]): string[] =>
  pods.map(({ spec }) => spec?.containers[0]?.image ?? '').toSorted()

function isRolledOut({ status, spec, metadata }: Deployment): boolean {
  return (
    status?.observedGeneration === metadata.generation &&
    status?.updatedReplicas === spec?.replicas &&
    status?.availableReplicas === spec?.replicas &&
    status?.replicas === spec?.replicas
  )
}

test('a deployment rolls out, rolls to a new template, and takes its pods along when deleted', async () => {
  await using api = await startTestApiServer()
  await using world = startControllerWorld({
    transport: api.transport,
    controllers: ['deployment-controller', 'replicaset-controller', 'garbage-collector-controller'],
  })
  const deployments = world.client(resources.deployments)
  await deployments.create(deployment(3), world.signal)
  const settled = (): Promise<Deployment> =>
    world.eventually(resources.deployments, ([each]) =>
      each && isRolledOut(each) ? each : undefined,
    )
  await settled()
  const patch = { spec: { template: { spec: { containers: [{ name: 'main', image: 'a:2' }] } } } }
  await deployments.patch({ namespace, name: 'web', type: 'strategic', patch }, world.signal)
  const rolled = await settled()
  assert.equal(rolled.metadata.annotations?.['deployment.kubernetes.io/revision'], '2')
  const pods = await world.eventually(resources.pods, (all) => (all.length === 3 ? all : undefined))
  assert.deepEqual(images(pods), ['a:2', 'a:2', 'a:2'])
  const progressing = rolled.status?.conditions?.find(({ type }) => type === 'Progressing')
  assert.equal(progressing?.reason, 'NewReplicaSetAvailable')
  await deployments.delete({ namespace, name: 'web' }, world.signal)
  await world.eventually(resources.replicaSets, (all) => all.length === 0 || undefined)
  await world.eventually(resources.pods, (all) => all.length === 0 || undefined)
})

test('a deleted pod is replaced once, and scaling down removes the cheapest', async () => {
  await using api = await startTestApiServer()
  await using world = startControllerWorld({
    transport: api.transport,
    controllers: ['replicaset-controller'],
  })
  const sets = world.client(resources.replicaSets)
  const pods = world.client(resources.pods)
  await sets.create(
    {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: 'web', namespace },
      spec: {
        replicas: 4,
        selector: { matchLabels: { app: 'web' } },
        template: template('a', 'web'),
      },
    },
    world.signal,
  )
  const ready = (count: number): Promise<readonly Pod[]> =>
    world.eventually(resources.pods, (all) =>
      all.length === count && all.every(({ status }) => status?.phase === 'Running')
        ? all
        : undefined,
    )
  const [first, second] = await ready(4)
  await pods.delete({ namespace, name: first?.metadata.name ?? '' }, world.signal)
  await world.eventually(resources.pods, (all) =>
    all.every(({ metadata }) => metadata.name !== first?.metadata.name) ? true : undefined,
  )
  await ready(4)
  const cheapest = second?.metadata.name ?? ''
  const annotations = { 'controller.kubernetes.io/pod-deletion-cost': '-5' }
  const patch = { metadata: { annotations } }
  await pods.patch({ namespace, name: cheapest, type: 'merge', patch }, world.signal)
  const scale = { spec: { replicas: 3 } }
  await sets.patch({ namespace, name: 'web', type: 'merge', patch: scale }, world.signal)
  const left = await ready(3)
  assert.ok(left.every(({ metadata }) => metadata.name !== cheapest))
})

test('pods that match a selector are adopted, and released when their labels change', async () => {
  await using api = await startTestApiServer()
  await using world = startControllerWorld({
    transport: api.transport,
    controllers: ['replicaset-controller'],
  })
  const pods = world.client(resources.pods)
  await pods.create(
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'early', namespace, labels: { app: 'web' } },
      spec: { containers: [{ name: 'main', image: 'a' }] },
    },
    world.signal,
  )
  await world.client(resources.replicaSets).create(
    {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: 'web', namespace },
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: 'web' } },
        template: template('a', 'web'),
      },
    },
    world.signal,
  )
  const early = (all: readonly Pod[]): Pod | undefined =>
    all.find(({ metadata }) => metadata.name === 'early')
  await world.eventually(resources.pods, (all) =>
    early(all)?.metadata.ownerReferences?.[0]?.name === 'web' ? true : undefined,
  )
  const patch = { metadata: { labels: { app: 'other' } } }
  await pods.patch({ namespace, name: 'early', type: 'merge', patch }, world.signal)
  const all = await world.eventually(resources.pods, (each) =>
    each.length === 2 ? each : undefined,
  )
  await world.eventually(resources.pods, (each) =>
    early(each)?.metadata.ownerReferences === undefined ? true : undefined,
  )
  assert.equal(all.length, 2)
})

test('a stateful set starts in order with its claims and updates from the last to the first', async () => {
  const seen: string[] = []
  await using api = await startTestApiServer()
  await using world = startControllerWorld({
    transport: api.transport,
    controllers: ['statefulset-controller'],
    behaviour: (pod) => {
      const step = `${pod.metadata.name} ${pod.spec?.containers[0]?.image}`
      if (!seen.includes(step)) seen.push(step)
      return 'run'
    },
  })
  const sets = world.client(resources.statefulSets)
  await sets.create(
    {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'db', namespace },
      spec: {
        serviceName: 'db',
        replicas: 3,
        selector: { matchLabels: { app: 'db' } },
        template: template('a:1', 'db'),
        volumeClaimTemplates: [
          {
            apiVersion: 'v1',
            kind: 'PersistentVolumeClaim',
            metadata: { name: 'data' },
            spec: {
              accessModes: ['ReadWriteOnce'],
              resources: { requests: { storage: '1Gi' } },
            },
          },
        ],
      },
    },
    world.signal,
  )
  const updated = (): Promise<true> =>
    world.eventually(resources.statefulSets, ([set]) => {
      const status = set?.status
      const isDone =
        status?.observedGeneration === set?.metadata.generation &&
        status?.readyReplicas === 3 &&
        status?.updatedReplicas === 3 &&
        status?.currentRevision === status?.updateRevision
      return isDone || undefined
    })
  await updated()
  const patch = { spec: { template: { spec: { containers: [{ name: 'main', image: 'a:2' }] } } } }
  await sets.patch({ namespace, name: 'db', type: 'strategic', patch }, world.signal)
  await updated()
  assert.deepEqual(seen, ['db-0 a:1', 'db-1 a:1', 'db-2 a:1', 'db-2 a:2', 'db-1 a:2', 'db-0 a:2'])
  const claims = await world.eventually(resources.persistentVolumeClaims, (all) =>
    all.length === 3 ? all.map(({ metadata }) => metadata.name ?? '') : undefined,
  )
  assert.deepEqual(new Set(claims), new Set(['data-db-0', 'data-db-1', 'data-db-2']))
})

test('a daemon set keeps one pod on each suitable node', async () => {
  await using api = await startTestApiServer()
  await using world = startControllerWorld({
    transport: api.transport,
    controllers: ['daemonset-controller'],
  })
  for (const name of ['n1', 'n2', 'n3']) {
    const labels = { disk: name === 'n3' ? 'hdd' : 'ssd' }
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } }
    await world.client(resources.nodes).create(node, world.signal)
  }
  const { metadata, spec } = template('a', 'agent')
  await world.client(resources.daemonSets).create(
    {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'agent', namespace },
      spec: {
        selector: { matchLabels: { app: 'agent' } },
        template: {
          ...(metadata ? { metadata } : {}),
          spec: { containers: [], ...spec, nodeSelector: { disk: 'ssd' } },
        },
      },
    },
    world.signal,
  )
  const counts = (desired: number): Promise<true> =>
    world.eventually(resources.daemonSets, ([set]) => {
      const { desiredNumberScheduled, numberReady } = set?.status ?? {}
      return (desiredNumberScheduled === desired && numberReady === desired) || undefined
    })
  await counts(2)
  const patch = { metadata: { labels: { disk: 'ssd' } } }
  await world.client(resources.nodes).patch({ name: 'n3', type: 'merge', patch }, world.signal)
  await counts(3)
})

test('a job counts its pods through their finalizer and completes', async () => {
  await using api = await startTestApiServer()
  await using world = startControllerWorld({
    transport: api.transport,
    controllers: ['job-controller'],
    behaviour: () => 'succeed',
  })
  await world.client(resources.jobs).create(
    {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'sum', namespace },
      spec: {
        completions: 4,
        parallelism: 2,
        completionMode: 'Indexed',
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'a' }] } },
      },
    },
    world.signal,
  )
  const status = await world.eventually(resources.jobs, ([job]) =>
    job?.status?.conditions?.some(({ type }) => type === 'Complete') ? job.status : undefined,
  )
  assert.equal(status?.succeeded, 4)
  assert.equal(status?.completedIndexes, '0-3')
  assert.ok(status?.completionTime)
  const pods = await world.eventually(resources.pods, (all) => all)
  assert.ok(pods.every(({ metadata }) => !metadata.finalizers?.length))
})

test('a job fails at its backoff limit and says why', async () => {
  await using api = await startTestApiServer()
  await using world = startControllerWorld({
    transport: api.transport,
    controllers: ['job-controller'],
    behaviour: () => 'fail',
  })
  await world.client(resources.jobs).create(
    {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'broken', namespace },
      spec: {
        backoffLimit: 0,
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'a' }] } },
      },
    },
    world.signal,
  )
  const failed = await world.eventually(resources.jobs, ([job]) =>
    job?.status?.conditions?.find(({ type }) => type === 'Failed'),
  )
  assert.equal(failed.reason, 'BackoffLimitExceeded')
  assert.equal(failed.message, 'Job has reached the specified backoff limit')
})

test('a namespace is deleted with everything in it, pods first', async () => {
  await using api = await startTestApiServer()
  await using world = startControllerWorld({
    transport: api.transport,
    controllers: ['namespace-controller'],
  })
  const namespaces = world.client(resources.namespaces)
  const name = 'doomed'
  await namespaces.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, world.signal)
  const { metadata, ...rest } = deployment(2)
  const doomed = { ...rest, metadata: { ...metadata, namespace: name } }
  await world.client(resources.deployments).create(doomed, world.signal)
  await world.client(resources.pods).create(
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', namespace: name },
      spec: { containers: [{ name: 'main', image: 'a' }] },
    },
    world.signal,
  )
  await world.eventually(resources.pods, ([pod]) => pod?.status?.phase === 'Running' || undefined)
  await namespaces.delete({ name }, world.signal)
  await world.eventually(resources.namespaces, (all) =>
    all.every((each) => each.metadata.name !== name) ? true : undefined,
  )
  const left = await world.client(resources.deployments).list({}, world.signal)
  assert.deepEqual(left.items, [])
})

test('orphaning leaves the dependents, foreground deletion waits for them', async () => {
  await using api = await startTestApiServer()
  await using world = startControllerWorld({
    transport: api.transport,
    controllers: ['deployment-controller', 'replicaset-controller', 'garbage-collector-controller'],
  })
  const deployments = world.client(resources.deployments)
  await deployments.create(deployment(1), world.signal)
  await world.eventually(resources.pods, (all) => (all.length === 1 ? true : undefined))
  const orphan = { namespace, name: 'web', propagationPolicy: 'Orphan' as const }
  await deployments.delete(orphan, world.signal)
  const set = await world.eventually(resources.replicaSets, ([each]) =>
    each && !each.metadata.ownerReferences?.length ? each : undefined,
  )
  await world.eventually(resources.deployments, (all) => (all.length === 0 ? true : undefined))
  await deployments.create(deployment(1), world.signal)
  await world.eventually(resources.replicaSets, ([each]) =>
    each?.metadata.ownerReferences?.[0]?.kind === 'Deployment' ? true : undefined,
  )
  const foreground = { namespace, name: 'web', propagationPolicy: 'Foreground' as const }
  await deployments.delete(foreground, world.signal)
  await world.eventually(resources.deployments, (all) => (all.length === 0 ? true : undefined))
  const sets = await world.client(resources.replicaSets).list({ namespace }, world.signal)
  assert.deepEqual(sets.items, [])
  assert.ok(set.metadata.name)
})

test('a quota reports the usage of its namespace', async () => {
  await using api = await startTestApiServer()
  await using world = startControllerWorld({
    transport: api.transport,
    controllers: ['resourcequota-controller'],
    behaviour: () => 'stuck',
  })
  await world.client(resources.resourceQuotas).create(
    {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'q', namespace },
      spec: { hard: { pods: '5', 'requests.cpu': '1', configmaps: '3' } },
    },
    world.signal,
  )
  await world.client(resources.pods).create(
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', namespace },
      spec: {
        containers: [{ name: 'main', image: 'a', resources: { requests: { cpu: '250m' } } }],
      },
    },
    world.signal,
  )
  const used = await world.eventually(resources.resourceQuotas, ([quota]) =>
    quota?.status?.used?.['pods'] === '1' ? quota.status.used : undefined,
  )
  assert.deepEqual(used, { pods: '1', 'requests.cpu': '250m', configmaps: '0' })
})

test('a quota counts objects that come and go, custom kinds and services too', async () => {
  await using api = await startTestApiServer()
  await using world = startControllerWorld({
    transport: api.transport,
    controllers: ['resourcequota-controller'],
  })
  const hard = { configmaps: '5', 'count/deployments.apps': '5', services: '5', secrets: '5' }
  await world.client(resources.resourceQuotas).create(
    {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'q', namespace },
      spec: { hard },
    },
    world.signal,
  )
  const uses = (name: string, amount: string): Promise<true> =>
    world.eventually(resources.resourceQuotas, ([quota]) =>
      quota?.status?.used?.[name] === amount ? true : undefined,
    )
  await uses('services', '0')
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm', namespace } }
  await world.client(resources.configMaps).create(map, world.signal)
  await world.client(resources.deployments).create(deployment(0), world.signal)
  await uses('configmaps', '1')
  await uses('count/deployments.apps', '1')
  await world.client(resources.configMaps).delete({ namespace, name: 'm' }, world.signal)
  await uses('configmaps', '0')
})

test('a quota counts kinds that nobody watches, for as long as it counts them', async () => {
  await using api = await startTestApiServer()
  await using world = startControllerWorld({
    transport: api.transport,
    controllers: ['resourcequota-controller'],
  })
  const name = 'count/ingresses.networking.k8s.io'
  const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q', namespace } }
  const spec = { hard: { [name]: '5', 'count/moons.example.com': '5' } }
  await world.client(resources.resourceQuotas).create({ ...quota, spec }, world.signal)
  const uses = (amount: string): Promise<true> =>
    world.eventually(resources.resourceQuotas, ([each]) =>
      each?.status?.used?.[name] === amount ? true : undefined,
    )
  await uses('0')
  const ingress = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: 'i', namespace },
    spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } },
  }
  await world.client(resources.ingresses).create(ingress, world.signal)
  await uses('1')
  await world.client(resources.ingresses).delete({ namespace, name: 'i' }, world.signal)
  await uses('0')
})
