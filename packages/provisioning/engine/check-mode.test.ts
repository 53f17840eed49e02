import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isStatusError } from '@skerry/api'
import type { HubSide, MachineContext, Step } from '../contract/step.ts'
import { StepError } from '../contract/step.ts'
import {
  edgeClusterResource,
  type EdgeCluster,
  type EdgeClusterSpec,
} from '../kind/edge-cluster.ts'
import {
  sceneKey,
  startControllerScene,
  type ControllerScene,
} from '../testing/controller-scene.ts'
import { fakeShell } from '../testing/fake-shell.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const credentials = { name: 'ssh' }
const machines = [
  { addresses: ['10.0.0.1'], credentials, role: 'Master' as const, acceptNewHostKeys: true },
  { addresses: ['10.0.0.[2-9]'], credentials, acceptNewHostKeys: true },
]

interface World {
  readonly done: string[]
  readonly unfit: Set<string>
  running: number
  most: number
}

function stepsIn(world: World): Step[] {
  const act =
    (name: string) =>
    async ({ machine, record }: MachineContext): Promise<string> => {
      world.running += 1
      world.most = Math.max(world.most, world.running)
      await new Promise(setImmediate)
      world.running -= 1
      const { address } = machine
      world.done.push(`${name}@${address}`)
      if (name !== 'Look' || !world.unfit.has(address)) {
        record({ node: `node-${address}` })
        return 'fit'
      }
      const findings = ['the disk is small: buy a larger one', 'it swaps: run swapoff']
      throw new StepError(`${address}: ${findings.join('; ')}`, { isFinal: true, findings })
    }
  return [
    { name: 'Claim', does: 'claim', needs: [], place: 'hub', act: async () => 'claimed' },
    { name: 'Look', does: 'look', needs: [], place: 'machines', onlyReads: true, act: act('Look') },
    {
      name: 'Install',
      does: 'install',
      needs: ['Look'],
      place: 'machines',
      changesMachine: true,
      input: ({ spec }) => spec.displayName,
      act: act('Install'),
    },
  ]
}

async function start(world: World): Promise<ControllerScene> {
  const parts = {
    steps: stepsIn(world),
    departure: [],
    removal: [],
    // The steps of this test do not ask the hub.
    hub: {} as HubSide,
    openShell: async () => fakeShell(),
  }
  return startControllerScene(parts, soon())
}

const edgeOf = (spec: Partial<EdgeClusterSpec>): EdgeCluster => ({
  apiVersion: 'hub.skerry.io/v1alpha1',
  kind: 'EdgeCluster',
  metadata: sceneKey,
  spec: { machines, ...spec },
})

const worldOf = (): World => ({ done: [], unfit: new Set(), running: 0, most: 0 })
const phaseIs =
  (phase: string) =>
  (found: EdgeCluster | undefined): boolean =>
    found?.status?.phase === phase
const patch = ({ api }: ControllerScene, spec: object): Promise<EdgeCluster> =>
  api.resource(edgeClusterResource).patch({ ...sceneKey, type: 'merge', patch: { spec } }, soon())

test('a check has the findings of all machines, though the master is unfit, and changes none', async () => {
  const world = worldOf()
  for (const address of ['10.0.0.1', '10.0.0.3']) world.unfit.add(address)
  await using scene = await start(world)
  await scene.api.resource(edgeClusterResource).create(edgeOf({ mode: 'Check' }), soon())
  const failed = await scene.until(
    (found) =>
      phaseIs('Failed')(found) &&
      (found?.status?.steps ?? []).every(({ state }) => state === 'Done' || state === 'Failed'),
  )
  const { steps = [], plan = [], capacity, servicesMax } = failed?.status ?? {}
  assert.deepEqual(
    steps.flatMap(({ machine, findings }) =>
      findings === undefined ? [] : [[machine, findings.length]],
    ),
    [
      ['10.0.0.1', 2],
      ['10.0.0.3', 2],
    ],
  )
  assert.deepEqual(
    plan.map(({ name, where }) => [name, where]),
    [
      ['Claim', 'Hub'],
      ['Look', 'Machines'],
      ['Install', 'Machines'],
    ],
  )
  assert.match(capacity ?? '', /at most 256 nodes/)
  assert.equal(servicesMax, 65_534)
  assert.equal(failed?.status?.machines?.[0]?.isChanged, undefined)
  assert.ok(world.done.every((text) => text.startsWith('Look')))
})

test('a cluster that was checked is made after a change to Make, and may not go back', async () => {
  const world = worldOf()
  await using scene = await start(world)
  await scene.api.resource(edgeClusterResource).create(edgeOf({ mode: 'Check' }), soon())
  await scene.until(phaseIs('Checked'))
  assert.equal(world.done.length, 9)
  await patch(scene, { mode: 'Make' })
  const made = await scene.until(phaseIs('Ready'))
  // It may have been long ago, so each machine is looked at again.
  assert.equal(world.done.length, 9 + 18)
  assert.equal(made?.status?.plan, undefined)
  assert.equal(made?.status?.machines?.[2]?.node, 'node-10.0.0.3')
  await assert.rejects(patch(scene, { mode: 'Check' }), (error) => isStatusError(error, 'Invalid'))
})

test('a finished step is done again when its fields change, and no other one is', async () => {
  const world = worldOf()
  await using scene = await start(world)
  await scene.api.resource(edgeClusterResource).create(edgeOf({ displayName: 'a' }), soon())
  await scene.until(phaseIs('Ready'))
  world.done.length = 0
  await patch(scene, { displayName: 'b' })
  await scene.until(
    (found) =>
      phaseIs('Ready')(found) && found?.status?.observedGeneration === found?.metadata.generation,
  )
  await scene.until((found) => phaseIs('Ready')(found) && world.done.length === 9)
  assert.ok(world.done.every((text) => text.startsWith('Install')))
})

for (const [machinesAtOnce, most] of [
  [1, 1],
  [3, 3],
] as const) {
  test(`with machinesAtOnce ${machinesAtOnce} at most ${most} machines are worked on`, async () => {
    const world = worldOf()
    await using scene = await start(world)
    await scene.api.resource(edgeClusterResource).create(edgeOf({ machinesAtOnce }), soon())
    await scene.until(phaseIs('Ready'))
    assert.ok(world.most <= most, String(world.most))
  })
}

test('a version that the hub has not is refused, and only when it is new', async () => {
  const world = worldOf()
  await using scene = await start(world)
  const edges = scene.api.resource(edgeClusterResource)
  await assert.rejects(edges.create(edgeOf({ version: '9.9.9' }), soon()), (error) => {
    assert.ok(isStatusError(error, 'Invalid'))
    assert.match(String(error), /spec\.version.*9\.9\.9.*0\.1\.0/)
    return true
  })
  await edges.create(edgeOf({ version: '0.1.0' }), soon())
})

test('a dry run of the API shows how many nodes and services fit, and makes nothing', async () => {
  await using scene = await start(worldOf())
  const edges = scene.api.resource(edgeClusterResource)
  const network = { podCIDR: '10.8.0.0/20', serviceCIDR: '10.9.0.0/24' }
  const { status } = await edges.create(edgeOf({ network }), soon(), { isDryRun: true })
  assert.deepEqual(status, {
    nodesMax: 16,
    servicesMax: 254,
    capacity: 'at most 16 nodes with 110 pods each (a /24 for each node), and 254 services',
  })
  assert.equal((await edges.list({ namespace: 'default' }, soon())).items.length, 0)
})
