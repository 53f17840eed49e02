import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterClient as Api } from '@skerry/client'
import {
  edgeClusterResource,
  type EdgeCluster,
  type EdgeClusterSpec,
} from '../kind/edge-cluster.ts'
import { ShellError } from '../contract/shell.ts'
import type { HubSide, Step } from '../contract/step.ts'
import {
  sceneKey as key,
  startControllerScene,
  type ControllerScene,
} from '../testing/controller-scene.ts'
import { fakeShell } from '../testing/fake-shell.ts'
import type { EdgeClusterDeps } from './edge-cluster-controller.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)

interface World {
  /** The names of steps with their machines, as they were done. */
  readonly done: string[]
  readonly unreachable: Set<string>
  /** The names of steps that fail. */
  readonly stuck: Set<string>
}

const worldOf = (): World => ({ done: [], unreachable: new Set(), stuck: new Set() })

function partsOf(world: World): EdgeClusterDeps {
  const act =
    (name: string, word: string) =>
    async ({ machine }: { machine: { address: string } }): Promise<string> => {
      if (world.stuck.has(name)) throw new Error(`${name} is stuck`)
      world.done.push(`${name}${word}${machine.address}`)
      return 'done'
    }
  const onMachine = (name: string, more: Partial<Step> = {}): Step => ({
    does: 'work',
    needs: [],
    ...more,
    name,
    place: 'machines',
    act: act(name, '@'),
  })
  const forMachine = (name: string, more: Partial<Step> = {}): Step => ({
    does: 'work',
    needs: [],
    ...more,
    name,
    place: 'master-for-each',
    act: act(name, ' for '),
  })
  const onHub = (name: string): Step => ({
    does: 'work',
    needs: [],
    name,
    place: 'hub',
    async act() {
      world.done.push(name)
      return 'done'
    },
  })
  return {
    steps: [onHub('Claim'), onMachine('Connect'), onMachine('Install', { changesMachine: true })],
    departure: [
      forMachine('Drain', { appliesTo: ({ isDead }) => isDead !== true }),
      forMachine('Delete'),
      onMachine('Clean', { appliesTo: ({ isDead }) => isDead !== true }),
    ],
    removal: [
      onMachine('Clean', { appliesTo: ({ isChanged }) => isChanged === true }),
      onHub('Forget'),
    ],
    // The steps of this test do not ask the hub.
    hub: {} as HubSide,
    async openShell({ address }) {
      if (world.unreachable.has(address)) throw new ShellError('unreachable', 'nobody is there')
      return fakeShell()
    },
  }
}

const block = { credentials: { name: 'ssh' }, acceptNewHostKeys: true }
const machines = [
  { ...block, addresses: ['10.0.0.1'], role: 'Master' as const },
  { ...block, addresses: ['10.0.0.2'] },
]

function edgeOf(spec: Partial<EdgeClusterSpec> = {}): EdgeCluster {
  const whole = { machines, retry: { attempts: 1 }, ...spec }
  return { apiVersion: 'hub.skerry.io/v1alpha1', kind: 'EdgeCluster', metadata: key, spec: whole }
}

const untilPhase = (scene: ControllerScene, phase: string) =>
  scene.until((found) => found?.status?.phase === phase)

const untilStep = (scene: ControllerScene, name: string, state: string) =>
  scene.until((found) => found?.status?.steps?.find((step) => step.name === name)?.state === state)

const untilAlone = (scene: ControllerScene) =>
  scene.until((found) => found?.status?.phase === 'Ready' && found.status.machines?.length === 1)

/** Takes the second machine out of the spec. */
const shrink = (api: Api) => {
  const patch = { spec: { machines: machines.slice(0, 1) } }
  return api.resource(edgeClusterResource).patch({ ...key, type: 'merge', patch }, soon())
}

const annotate = (api: Api, annotations: Readonly<Record<string, string>>) => {
  const patch = { metadata: { annotations } }
  return api.resource(edgeClusterResource).patch({ ...key, type: 'merge', patch }, soon())
}

test('a machine that the spec does not name any more leaves, is cleaned, and is forgotten', async () => {
  const world = worldOf()
  await using scene = await startControllerScene(partsOf(world), soon())
  const { api } = scene
  await api.resource(edgeClusterResource).create(edgeOf(), soon())
  await untilPhase(scene, 'Ready')
  const programs = { '10.0.0.1': '0.1.0', '10.0.0.2': '0.1.0' }
  const written = { ...key, type: 'merge' as const, patch: { status: { programs } } }
  await api.resource(edgeClusterResource).patchStatus(written, soon())
  await shrink(api)
  const alone = await untilAlone(scene)
  assert.deepEqual(alone?.status?.programs, { '10.0.0.1': '0.1.0' })
  assert.deepEqual(world.done.slice(5), [
    'Drain for 10.0.0.2',
    'Delete for 10.0.0.2',
    'Clean@10.0.0.2',
  ])
  const { steps = [], conditions = [] } = alone?.status ?? {}
  assert.ok(steps.every(({ machine }) => machine !== '10.0.0.2'))
  assert.ok(conditions.every(({ type }) => type !== 'Drain'))
  const again = { spec: { machines } }
  await api.resource(edgeClusterResource).patch({ ...key, type: 'merge', patch: again }, soon())
  await untilPhase(scene, 'Running')
  const grown = await untilPhase(scene, 'Ready')
  assert.equal(grown?.status?.machines?.[1]?.isChanged, true)
})

test('a machine that does not answer is called dead, and leaves without its cleaning', async () => {
  const world = worldOf()
  await using scene = await startControllerScene(partsOf(world), soon())
  const { api } = scene
  await api.resource(edgeClusterResource).create(edgeOf(), soon())
  await untilPhase(scene, 'Ready')
  world.unreachable.add('10.0.0.2')
  await shrink(api)
  const failed = await untilPhase(scene, 'Failed')
  assert.equal(failed?.status?.machines?.[1]?.login?.credentials, 'ssh')
  await annotate(api, { 'hub.skerry.io/dead': '10.0.0.2' })
  const alone = await untilAlone(scene)
  assert.equal(alone?.metadata.annotations?.['hub.skerry.io/dead'], undefined)
  assert.ok(!world.done.includes('Clean@10.0.0.2'))
})

test('a cluster that is deleted before a machine has left cleans that machine, too', async () => {
  const world = worldOf()
  await using scene = await startControllerScene(partsOf(world), soon())
  const { api } = scene
  await api.resource(edgeClusterResource).create(edgeOf(), soon())
  await untilPhase(scene, 'Ready')
  world.stuck.add('Drain')
  await shrink(api)
  await untilStep(scene, 'Drain', 'Failed')
  await api.resource(edgeClusterResource).delete(key, soon())
  await scene.until((found) => found === undefined)
  assert.deepEqual(world.done.slice(5).toSorted(), ['Clean@10.0.0.1', 'Clean@10.0.0.2', 'Forget'])
})

test('a machine comes back before it has left, and is one of the cluster again', async () => {
  const world = worldOf()
  await using scene = await startControllerScene(partsOf(world), soon())
  const { api } = scene
  await api.resource(edgeClusterResource).create(edgeOf(), soon())
  await untilPhase(scene, 'Ready')
  world.stuck.add('Drain')
  await shrink(api)
  await untilStep(scene, 'Drain', 'Failed')
  const again = { spec: { machines } }
  await api.resource(edgeClusterResource).patch({ ...key, type: 'merge', patch: again }, soon())
  const grown = await untilPhase(scene, 'Ready')
  assert.ok(!world.done.includes('Delete for 10.0.0.2'))
  assert.equal(grown?.status?.machines?.length, 2)
})

test('a failure of one machine becomes the phase only when the steps of others have ended', async () => {
  const world = worldOf()
  await using scene = await startControllerScene(partsOf(world), soon())
  const { api } = scene
  const phases: (string | undefined)[] = []
  const edges = api.resource(edgeClusterResource)
  await edges.create(edgeOf({ machines: machines.slice(0, 1) }), soon())
  await untilPhase(scene, 'Ready')
  world.unreachable.add('10.0.0.2')
  await edges.patch({ ...key, type: 'merge', patch: { spec: { machines } } }, soon())
  const failed = await untilPhase(scene, 'Failed')
  const more = [...machines, { ...machines[1], addresses: ['10.0.0.3'] }]
  const { resourceVersion = '' } = failed?.metadata ?? {}
  await edges.patch({ ...key, type: 'merge', patch: { spec: { machines: more } } }, soon())
  await scene.until(
    (found) => found?.status?.phase === 'Failed' && world.done.includes('Install@10.0.0.3'),
  )
  const end = AbortSignal.any([soon(), AbortSignal.timeout(60_000)])
  const selected = { namespace: 'default', resourceVersion }
  for await (const event of edges.watch(selected, end)) {
    if (!('object' in event)) continue
    const { object } = event
    const { observedGeneration, phase, steps = [] } = object.status ?? {}
    if (observedGeneration === object.metadata.generation) phases.push(phase)
    const isLast = steps.some(
      ({ name, machine, state }) => `${name}@${machine} ${state}` === 'Install@10.0.0.3 Done',
    )
    if (isLast && phase === 'Failed') break
  }
  assert.deepEqual([...new Set(phases)], ['Running', 'Failed'])
  assert.equal(phases.lastIndexOf('Running') < phases.indexOf('Failed'), true)
})
