import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linkedSignal, silentLogger, systemClock, systemRandom } from '@skerry/base'
import type { Event, PersistentVolume, Pod } from '@skerry/api'
import { createCluster, resources, type ClusterClient } from '@skerry/client'
import { createInformerSet } from '@skerry/controller-runtime'
import { startTestApiServer, untilSeen } from '@skerry/testing'
import { runScheduler } from './scheduler.ts'
import { node } from './testing/scheduling-world.ts'

const namespace = 'default'

/** Starts a scheduler on an API server, and nodes that release deleted pods at once. */
async function startWorld() {
  const stack = new AsyncDisposableStack()
  const api = stack.use(await startTestApiServer({ withAccess: true }))
  const scope = stack.use(linkedSignal(new AbortController().signal))
  const { signal } = scope
  const deps = { clock: systemClock, random: systemRandom, log: silentLogger }
  const cluster = createCluster(api.transport, { ...deps, userAgent: 'skerry-test' })
  await prepare(cluster, signal)
  const informers = createInformerSet(cluster, deps)
  const pods = informers.informer(resources.pods)
  const client = cluster.resource(resources.pods)
  stack.use(
    pods.onChange(({ type, object: { metadata } }) => {
      if (type === 'deleted' || metadata.deletionTimestamp === undefined) return
      const { name = '' } = metadata
      void client.delete({ namespace, name, gracePeriodSeconds: 0 }, signal).catch(() => undefined)
    }),
  )
  const tasks = [
    informers.run(signal),
    runScheduler({ ...deps, cluster, informers, host: 'here' }, signal),
  ]
  stack.defer(async () => {
    scope.abort(new Error('Test ended'))
    await Promise.allSettled(tasks)
  })
  return {
    cluster,
    signal,
    pods: client,
    eventsUntil: <R>(see: (all: readonly Event[]) => R | undefined): Promise<R> =>
      untilSeen(informers.informer(resources.events), see),
    volumesUntil: <R>(see: (all: readonly PersistentVolume[]) => R | undefined): Promise<R> =>
      untilSeen(informers.informer(resources.persistentVolumes), see),
    until: <R>(see: (all: readonly Pod[]) => R | undefined): Promise<R> => untilSeen(pods, see),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** Creates one ready node, and the account that pods run as. */
async function prepare(cluster: ClusterClient, signal: AbortSignal): Promise<void> {
  const account = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'default', namespace },
  }
  await cluster.resource(resources.serviceAccounts).create(account, signal)
  const nodes = cluster.resource(resources.nodes)
  await nodes.create(node('a'), signal)
  await nodes.patch({ name: 'a', type: 'merge', patch: { spec: { taints: null } } }, signal)
}

function pod(name: string, spec: Partial<NonNullable<Pod['spec']>> = {}): Pod {
  const resourcesOf = { requests: { cpu: '3' } }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: { containers: [{ name: 'main', image: 'a', resources: resourcesOf }], ...spec },
  }
}

const named = (all: readonly Pod[], name: string): Pod | undefined =>
  all.find(({ metadata }) => metadata.name === name)

test('a pod of higher priority gets the room of a lesser one, which gets an event with the reason', async () => {
  await using world = await startWorld()
  const { cluster, pods, signal, until } = world
  const priorityClass = {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'urgent' },
    value: 1000,
  }
  await cluster.resource(resources.priorityClasses).create(priorityClass, signal)
  await pods.create(pod('low'), signal)
  await until((all) => named(all, 'low')?.spec?.nodeName)
  const conditions: string[] = []
  const watching = until((all) => {
    const target = named(all, 'low')?.status?.conditions?.find(
      ({ type }) => type === 'DisruptionTarget',
    )
    if (target !== undefined) conditions.push(`${target.reason}: ${target.message}`)
    return conditions.length > 0 || undefined
  })
  await pods.create(pod('high', { priorityClassName: 'urgent' }), signal)
  await watching
  assert.equal(
    conditions[0],
    'PreemptionByScheduler: default-scheduler: preempting to accommodate a higher priority pod',
  )
  const high = await until((all) => {
    const each = named(all, 'high')
    return each?.spec?.nodeName === undefined ? undefined : each
  })
  assert.equal(high.spec?.nodeName, 'a')
})

test('a gated pod waits until its last gate is gone', async () => {
  await using world = await startWorld()
  const { pods, signal, until } = world
  await pods.create(pod('gated', { schedulingGates: [{ name: 'later' }] }), signal)
  const gated = await until((all) => named(all, 'gated'))
  assert.equal(gated.status?.conditions?.[0]?.reason, 'SchedulingGated')
  const patch = { spec: { schedulingGates: null } }
  await pods.patch({ namespace, name: 'gated', type: 'merge', patch }, signal)
  assert.equal(await until((all) => named(all, 'gated')?.spec?.nodeName), 'a')
})

test('an event of a pod has its time and its reporter', async () => {
  await using world = await startWorld()
  const { eventsUntil, pods, signal } = world
  const { metadata } = await pods.create(pod('placed'), signal)
  const event = await eventsUntil((all) => all.find(({ reason }) => reason === 'Scheduled'))
  const { action, involvedObject, message, reportingComponent, reportingInstance, type } = event
  assert.deepEqual(
    { action, message, reportingComponent, reportingInstance, type, uid: involvedObject.uid },
    {
      action: 'Binding',
      message: 'Successfully assigned default/placed to a',
      reportingComponent: 'default-scheduler',
      reportingInstance: 'default-scheduler-here',
      type: 'Normal',
      uid: metadata.uid,
    },
  )
  assert.match(event.eventTime ?? '', /\.\d{6}Z$/)
  assert.deepEqual([event.source, event.firstTimestamp, event.count], [{}, null, undefined])
})

test('each claim of a pod gets a volume of its own, the smallest that suits', async () => {
  await using world = await startWorld()
  const { cluster, signal } = world
  const storageClassName = 'static'
  await cluster.resource(resources.storageClasses).create(
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: storageClassName },
      provisioner: 'kubernetes.io/no-provisioner',
      volumeBindingMode: 'WaitForFirstConsumer',
    },
    signal,
  )
  const accessModes = ['ReadWriteOnce']
  const volumes = cluster.resource(resources.persistentVolumes)
  for (const [name, storage] of [
    ['large', '9Gi'],
    ['small', '1Gi'],
    ['middle', '5Gi'],
  ] as const) {
    const hostPath = { path: '/x' }
    const spec = { storageClassName, accessModes, capacity: { storage }, hostPath }
    await volumes.create(
      { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name }, spec },
      signal,
    )
    await volumes.patchStatus(
      { name, type: 'merge', patch: { status: { phase: 'Available' } } },
      signal,
    )
  }
  const claimed = ['one', 'two']
  for (const name of claimed) {
    const spec = { storageClassName, accessModes, resources: { requests: { storage: '1Gi' } } }
    const metadata = { name, namespace }
    await cluster
      .resource(resources.persistentVolumeClaims)
      .create({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec }, signal)
  }
  const mounted = claimed.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }))
  await world.pods.create(pod('user', { volumes: mounted }), signal)
  const reserved = await world.volumesUntil((all) => {
    const held = all.filter(({ spec }) => spec?.claimRef)
    return held.length === 2 ? held : undefined
  })
  assert.deepEqual(reserved.map(({ metadata }) => metadata.name ?? '').toSorted(), [
    'middle',
    'small',
  ])
  assert.deepEqual(reserved.map(({ spec }) => spec?.claimRef?.name ?? '').toSorted(), claimed)
})
