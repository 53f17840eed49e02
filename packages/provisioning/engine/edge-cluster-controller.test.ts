import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isStatusError, type Secret } from '@skerry/api'
import { linkedSignal, runAll, silentLogger, systemClock, systemRandom } from '@skerry/base'
import {
  createCluster,
  createEventSink,
  resources,
  type ClusterClient as Api,
} from '@skerry/client'
import { createInformerSet, runController, type InformerSet } from '@skerry/controller-runtime'
import { builtinKinds } from '@skerry/kinds'
import { startTestApiServer, untilObject } from '@skerry/testing'
import { edgeClusterKind } from '../kind/edge-cluster-kind.ts'
import {
  edgeClusterFinalizer,
  edgeClusterResource,
  type EdgeCluster,
  type EdgeClusterSpec,
} from '../kind/edge-cluster.ts'
import { ShellError, type Shell } from '../contract/shell.ts'
import type { HubSide, Step } from '../contract/step.ts'
import { edgeClusterController } from './edge-cluster-controller.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'test' }
const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const hostKey = `SHA256:${'a'.repeat(43)}`
const password = 'correct-horse-battery'
const key = { namespace: 'default', name: 'branch-7' }

interface World {
  /** The names of steps with their machines, as they were done. */
  readonly done: string[]
  readonly unreachable: Set<string>
  /** The text that each machine prints in each step. */
  prints: string
  /** Called while a step of the hub runs. */
  onStep?: () => Promise<unknown>
}

function shellOf(): Shell {
  return {
    hostKey,
    run: async () => ({ exitCode: 0, stdout: '', stderr: '' }),
    write: async () => undefined,
    upload: async () => undefined,
    uploadByDigest: async () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  }
}

function tables(world: World): Record<'steps' | 'departure' | 'removal', Step[]> {
  const text = { does: 'work', needs: [] }
  const onMachine = (name: string, more: Partial<Step> = {}): Step => ({
    ...text,
    ...more,
    name,
    place: 'machines',
    async act({ machine, print }) {
      print(world.prints)
      world.done.push(`${name}@${machine.address}`)
      return 'done'
    },
  })
  const onHub = (name: string): Step => ({
    ...text,
    name,
    place: 'hub',
    async act() {
      world.done.push(name)
      await world.onStep?.()
      return 'done'
    },
  })
  return {
    steps: [onHub('Claim'), onMachine('Connect'), onMachine('Install', { changesMachine: true })],
    departure: [],
    removal: [
      onMachine('Clean', { appliesTo: ({ isChanged }) => isChanged === true }),
      onHub('Forget'),
    ],
  }
}

const secretOf = (): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { ...key, name: 'ssh' },
  data: { password: btoa(password) },
})

/** An API server with the kind, a Secret, and the controller on it until it is disposed of. */
async function start(
  world: World,
): Promise<{ readonly api: Api; readonly informers: InformerSet } & AsyncDisposable> {
  const kinds = await builtinKinds()
  await using stack = new AsyncDisposableStack()
  const server = stack.use(await startTestApiServer({ kinds: [...kinds, edgeClusterKind(kinds)] }))
  const api = createCluster(server.transport, deps)
  await api.resource(resources.secrets).create(secretOf(), soon())
  const informers = createInformerSet(api, deps)
  const events = createEventSink(api, deps)
  const stop = linkedSignal(soon())
  const definition = edgeClusterController({
    ...tables(world),
    // The steps of this test do not ask the hub.
    hub: {} as HubSide,
    async openShell({ address, isHostKeyAccepted }) {
      if (world.unreachable.has(address)) throw new ShellError('unreachable', 'nobody is there')
      if (!isHostKeyAccepted(hostKey)) throw new ShellError('host-key', 'no', { cause: hostKey })
      return shellOf()
    },
  })
  const running = runAll(stop.signal, [
    (scope) => informers.run(scope),
    (scope) => events.run(scope),
    (scope) => runController(definition, { ...deps, cluster: api, informers, events }, scope),
  ])
  stack.defer(async () => {
    stop.abort(new Error('the test is over'))
    await running
  })
  const owned = stack.move()
  return { api, informers, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

const machines = [
  {
    addresses: ['10.0.0.1'],
    credentials: { name: 'ssh' },
    role: 'Master' as const,
    hostKeys: [hostKey],
  },
  { addresses: ['10.0.0.2'], credentials: { name: 'ssh' }, hostKeys: [hostKey] },
]

function edgeOf(spec: Partial<EdgeClusterSpec> = {}): EdgeCluster {
  const whole = { machines, retry: { attempts: 1 }, ...spec }
  return { apiVersion: 'hub.skerry.io/v1alpha1', kind: 'EdgeCluster', metadata: key, spec: whole }
}

function untilPhase(api: Api, phase: string): Promise<EdgeCluster | undefined> {
  const isThere = (found: EdgeCluster | undefined): boolean => found?.status?.phase === phase
  return untilObject(api, { resource: edgeClusterResource, key }, isThere, soon())
}

const annotate = (
  api: Api,
  annotations: Readonly<Record<string, string>>,
): Promise<EdgeCluster> => {
  const patch = { metadata: { annotations } }
  return api.resource(edgeClusterResource).patch({ ...key, type: 'merge', patch }, soon())
}

const untilGone = (api: Api): Promise<EdgeCluster | undefined> =>
  untilObject(api, { resource: edgeClusterResource, key }, (found) => found === undefined, soon())

const worldOf = (): World => ({
  done: [],
  unreachable: new Set(),
  prints: `the password is ${password}`,
})

test('a cluster is made, holds its finalizer, shows no password, and is taken away', async () => {
  const world = worldOf()
  await using scene = await start(world)
  const { api } = scene
  const edges = api.resource(edgeClusterResource)
  await edges.create({ ...edgeOf(), status: { phase: 'Ready' } }, soon())
  const made = await untilPhase(api, 'Ready')
  assert.deepEqual(made?.metadata.finalizers, [edgeClusterFinalizer])
  assert.equal(made?.status?.nodesMax, 256)
  assert.deepEqual(
    made?.status?.machines?.map(({ isChanged }) => isChanged),
    [true, true],
  )
  assert.equal(world.done[0], 'Claim')
  assert.equal(world.done.length, 5)
  const { items } = await api.resource(resources.configMaps).list({ namespace: 'default' }, soon())
  const logs = items.filter(({ metadata }) => metadata.name?.startsWith('branch-7.'))
  assert.equal(logs.length, 5)
  assert.doesNotMatch(JSON.stringify([made, logs]), new RegExp(password))
  assert.match(JSON.stringify(logs), /the password is \[redacted\]/)
  await edges.delete(key, soon())
  await untilGone(api)
  assert.deepEqual(world.done.slice(5).toSorted(), ['Clean@10.0.0.1', 'Clean@10.0.0.2', 'Forget'])
})

test('machines that were never changed are not asked for when a cluster goes', async () => {
  const world = worldOf()
  world.unreachable.add('10.0.0.1').add('10.0.0.2')
  await using scene = await start(world)
  const { api } = scene
  await api.resource(edgeClusterResource).create(edgeOf(), soon())
  await untilPhase(api, 'Failed')
  await api.resource(edgeClusterResource).delete(key, soon())
  await untilGone(api)
  assert.deepEqual(world.done, ['Claim', 'Forget'])
})

test('a machine that cannot be cleaned holds its cluster until a person skips it, but no step of the hub is skipped', async () => {
  const world = worldOf()
  await using scene = await start(world)
  const { api } = scene
  await api.resource(edgeClusterResource).create(edgeOf(), soon())
  await untilPhase(api, 'Ready')
  world.unreachable.add('10.0.0.2')
  await api.resource(edgeClusterResource).delete(key, soon())
  const failed = await untilPhase(api, 'Failed')
  assert.equal(failed?.status?.steps?.find(({ state }) => state === 'Failed')?.machine, '10.0.0.2')
  await annotate(api, { 'hub.skerry.io/skip': 'Clean@10.0.0.2,Forget' })
  await untilGone(api)
  assert.equal(world.done.at(-1), 'Forget')
})

test('a Secret may go when its cluster is Ready, and is named when a machine is needed again', async () => {
  const world = worldOf()
  await using scene = await start(world)
  const { api } = scene
  const edges = api.resource(edgeClusterResource)
  const secrets = api.resource(resources.secrets)
  const login = { namespace: 'default', name: 'ssh' }
  await edges.create(edgeOf(), soon())
  await untilPhase(api, 'Ready')
  await secrets.delete(login, soon())
  const patch = { spec: { displayName: 'Branch 7' } }
  const { metadata } = await edges.patch({ ...key, type: 'merge', patch }, soon())
  const isSeen = (found: EdgeCluster | undefined): boolean =>
    found?.status?.observedGeneration === metadata.generation
  const seen = await untilObject(api, { resource: edgeClusterResource, key }, isSeen, soon())
  assert.equal(seen?.status?.phase, 'Ready')
  await edges.delete(key, soon())
  const failed = await untilPhase(api, 'Failed')
  assert.match(JSON.stringify(failed?.status?.conditions), /there is no Secret ssh; create it/)
  await secrets.create(secretOf(), soon())
  await annotate(api, { 'hub.skerry.io/retry': '*' })
  await untilGone(api)
})

test('the login of a proxy is in no log, though none of the steps that run has read it', async () => {
  const world = worldOf()
  world.prints = 'http_proxy=http://olga%40shop:s3cret%20word@proxy.example:3128, s3cret word'
  await using scene = await start(world)
  const { api } = scene
  const data = { username: btoa('olga@shop'), password: btoa('s3cret word\n') }
  const login = { ...secretOf(), metadata: { ...key, name: 'proxy' }, data }
  await api.resource(resources.secrets).create(login, soon())
  const proxy = { httpProxy: 'http://proxy.example:3128', credentials: { name: 'proxy' } }
  await api.resource(edgeClusterResource).create(edgeOf({ proxy }), soon())
  const made = await untilPhase(api, 'Ready')
  const { items } = await api.resource(resources.configMaps).list({ namespace: 'default' }, soon())
  const text = JSON.stringify([made, items])
  assert.match(text, /http_proxy=http:\/\/\[redacted\]:\[redacted\]@proxy\.example/)
  assert.doesNotMatch(text, /s3cret|olga%40/)
})

test('an unknown host key waits for a person, whose acceptance is kept and whose annotation goes', async () => {
  const world = worldOf()
  await using scene = await start(world)
  const { api } = scene
  const strange = machines.map((each) => ({ ...each, hostKeys: [] }))
  await api.resource(edgeClusterResource).create(edgeOf({ machines: strange }), soon())
  const waiting = await untilPhase(api, 'Waiting')
  assert.equal(waiting?.status?.machines?.[0]?.unknownHostKey, hostKey)
  const both = `10.0.0.1=${hostKey},10.0.0.2=${hostKey}`
  await annotate(api, { 'hub.skerry.io/accept-host-keys': both })
  const made = await untilPhase(api, 'Ready')
  assert.deepEqual(
    made?.status?.machines?.map((each) => each.hostKey),
    [hostKey, hostKey],
  )
  assert.equal(made?.metadata.annotations?.['hub.skerry.io/accept-host-keys'], undefined)
})

const readyMessage = (edge: EdgeCluster | undefined): string =>
  edge?.status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? ''

test('a paused cluster does nothing until neither its field nor its annotation holds it', async () => {
  const world = worldOf()
  await using scene = await start(world)
  const { api } = scene
  const annotations = { 'hub.skerry.io/pause': 'true' }
  const edge = { ...edgeOf({ paused: true }), metadata: { ...key, annotations } }
  await api.resource(edgeClusterResource).create(edge, soon())
  const both = await untilPhase(api, 'Paused')
  const named = 'paused by spec.paused and annotation hub.skerry.io/pause; Claim is next'
  assert.equal(readyMessage(both), named)
  const change = (patch: object) =>
    api.resource(edgeClusterResource).patch({ ...key, type: 'merge', patch }, soon())
  await change({ spec: { paused: false } })
  const isTold = (found: EdgeCluster | undefined): boolean =>
    readyMessage(found).startsWith('paused by annotation hub.skerry.io/pause; ')
  const one = await untilObject(api, { resource: edgeClusterResource, key }, isTold, soon())
  // It stays until a person removes it, unlike the annotations that the hub answers.
  assert.deepEqual(one?.metadata.annotations, annotations)
  assert.deepEqual(world.done, [])
  await change({ metadata: { annotations: { 'hub.skerry.io/pause': null } } })
  await untilPhase(api, 'Ready')
})

test('an annotation that comes while a step runs lets that step end, and no other begin', async () => {
  const world = worldOf()
  await using scene = await start(world)
  const { api, informers } = scene
  // The engine has seen this write when it resolves.
  const patch = { metadata: { annotations: { 'hub.skerry.io/pause': 'true' } } }
  world.onStep = () =>
    informers.client(edgeClusterResource).patch({ ...key, type: 'merge', patch }, soon())
  await api.resource(edgeClusterResource).create(edgeOf(), soon())
  const paused = await untilPhase(api, 'Paused')
  const states = paused?.status?.steps?.map(({ name, state }) => `${name} ${state}`) ?? []
  assert.deepEqual(new Set(states), new Set(['Claim Done', 'Connect Waiting', 'Install Waiting']))
  assert.deepEqual(world.done, ['Claim'])
  await annotate(api, { 'hub.skerry.io/pause': 'false' })
  await untilPhase(api, 'Ready')
  assert.equal(world.done.filter((name) => name === 'Claim').length, 1)
})

test('a log never replaces a ConfigMap that somebody else has made', async () => {
  const world = worldOf()
  await using scene = await start(world)
  const { api } = scene
  const configMaps = api.resource(resources.configMaps)
  const name = { ...key, name: 'branch-7.claim' }
  const data = { log: 'mine' }
  await configMaps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: name, data }, soon())
  await api.resource(edgeClusterResource).create(edgeOf(), soon())
  await untilPhase(api, 'Ready')
  assert.deepEqual((await configMaps.get(name, soon())).data, data)
})

test('the server fixes the network, the name and the master, counts generations, and keeps status apart', async () => {
  const kinds = await builtinKinds()
  await using server = await startTestApiServer({ kinds: [...kinds, edgeClusterKind(kinds)] })
  const edges = createCluster(server.transport, deps).resource(edgeClusterResource)
  const first = await edges.create({ ...edgeOf(), status: { phase: 'Ready' } }, soon())
  assert.deepEqual([first.status?.phase, first.metadata.generation], [undefined, 1])
  const otherMaster = machines.map((block) => ({ ...block, addresses: ['10.0.0.3'] })).slice(0, 1)
  const fixed = [
    { network: { podCIDR: '10.50.0.0/16' } },
    { clusterName: 'other' },
    { machines: otherMaster },
  ]
  for (const spec of fixed) {
    const change = edges.patch({ ...key, type: 'merge', patch: { spec } }, soon())
    await assert.rejects(change, (error) => isStatusError(error, 'Invalid'))
  }
  const same = { spec: { network: { dnsDomain: 'cluster.local' } } }
  await edges.patch({ ...key, type: 'merge', patch: same }, soon())
  const patch = { spec: { paused: true }, status: { phase: 'Failed' as const } }
  const written = await edges.patchStatus({ ...key, type: 'merge', patch }, soon())
  assert.deepEqual([written.spec.paused, written.status?.phase], [undefined, 'Failed'])
  assert.equal(written.metadata.generation, 2)
  const bad = { ...edgeOf({ machines: [] }), metadata: { ...key, name: 'bad' } }
  await assert.rejects(edges.create(bad, soon()), (error) => isStatusError(error, 'Invalid'))
})
