import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EdgeClusterSpec, MachineBlock } from '../kind/edge-cluster.ts'
import { blocksOf, EdgeScene, first, second, third } from '../testing/edge-scene.ts'

const values = { 'ConfigMap files/motd': 'welcome', 'ConfigMap hooks/script': '#!/bin/sh' }
const motd = (path: string) => ({ path, from: { configMap: 'files', key: 'motd' } })
const hook = { when: 'AfterInstall' as const, configMap: 'hooks', key: 'script' }

/** Returns a master and a node with these labels and taints. */
function machines(node: Partial<MachineBlock>): EdgeClusterSpec['machines'] {
  return [...blocksOf([first]), { addresses: [second], credentials: { name: 'ssh' }, ...node }]
}

async function made(spec: Partial<EdgeClusterSpec>): Promise<EdgeScene> {
  const scene = new EdgeScene({ machines: machines({}), ...spec }, values)
  await scene.settle()
  assert.equal(scene.ending(), 'Ready')
  return scene
}

async function change(scene: EdgeScene, spec: Partial<EdgeClusterSpec>): Promise<void> {
  scene.story.change(spec)
  await scene.settle()
  assert.equal(scene.ending(), 'Ready')
}

function without<T extends object>(object: T, names: readonly (keyof T & string)[]): T {
  const left = Object.entries(object).filter(([name]) => !names.some((each) => each === name))
  // Only optional fields are left out.
  return Object.fromEntries(left) as T
}

const node = ({ world }: EdgeScene): readonly string[] =>
  world.nodes.get(world.machine(second).name)?.labels ?? []

const options = ({ world }: EdgeScene): string =>
  world.machine(second).files.get('/etc/skerry/node.env') ?? ''

test('changed labels and taints reach a node that has joined, which loses the former ones', async () => {
  const video = { key: 'video', value: 'yes', effect: 'NoSchedule' as const }
  const scene = await made({ machines: machines({ labels: { tier: 'front' }, taints: [video] }) })
  assert.deepEqual(node(scene), ['tier=front', 'video=yes:NoSchedule'])
  await change(scene, { machines: machines({ labels: { shop: '7' } }) })
  assert.deepEqual(node(scene), ['shop=7'])
  // The node would give itself the former ones again when it starts.
  assert.match(options(scene), /--label shop=7$/m)
  assert.doesNotMatch(options(scene), /tier|video/)
  assert.match(scene.step(`LabelNode@${second}`), /^Done/)
  assert.equal(scene.step(`LabelNode@${first}`), 'there is no such step')
  await change(scene, { machines: machines({}) })
  assert.deepEqual(node(scene), [])
})

test('a node that was away through several changes loses the labels that any of them may have given it', async () => {
  const scene = await made({ machines: machines({ labels: { a: '1' } }) })
  const machine = scene.world.machine(second)
  machine.isAway = true
  for (const label of ['b', 'c']) {
    scene.story.change({ machines: machines({ labels: { [label]: '1' } }), retry: { attempts: 1 } })
    await scene.settle()
    assert.match(scene.ending(), /^Failed; LabelNode: /)
  }
  // An attempt may have ended before its machine answered.
  scene.world.nodes.set(machine.name, { isCordoned: false, labels: ['a=1', 'b=1', 'mine=1'] })
  machine.isAway = false
  await change(scene, { machines: machines({ labels: { d: '1' } }) })
  assert.deepEqual(node(scene), ['mine=1', 'd=1'])
  await scene.settle()
  const { machines: known = [], nodeSettings = [] } = scene.story.status
  const { given = [] } = known.find(({ address }) => address === second) ?? {}
  assert.equal(given.length, 1)
  assert.deepEqual(nodeSettings, [{ digest: given[0], labels: { d: '1' }, taints: [] }])
})

test('a change of the labels of one block asks no machine of another one', async () => {
  const scene = await made({})
  scene.world.machine(first).commands.length = 0
  const more = [
    ...machines({}),
    { addresses: [third], credentials: { name: 'ssh' }, labels: { a: '1' } },
  ]
  await change(scene, { machines: more })
  assert.equal(scene.step(`LabelNode@${second}`), 'there is no such step')
})

test('a machine whose master has an older program says so', async () => {
  const scene = await made({})
  const { world } = scene
  world.knowsLabels = false
  scene.story.change({ machines: machines({ labels: { a: '1' } }) })
  await scene.settle()
  assert.match(
    scene.ending(),
    /^Failed; LabelNode: the program on 10\.0\.0\.1 cannot change labels/,
  )
})

test('changed files reach machines that have joined, and those that are gone are taken back', async () => {
  const scene = await made({ files: [motd('/etc/motd'), motd('/opt/shop/a')] })
  const { files } = scene.world.machine(second)
  assert.equal(files.get('/etc/motd'), 'welcome')
  await change(scene, { files: [motd('/opt/shop/b')] })
  assert.deepEqual(
    ['/etc/motd', '/opt/shop/a', '/opt/shop/b'].map((path) => files.get(path)),
    ['/etc/motd of the machine', undefined, 'welcome'],
  )
  await change(scene, { files: [] })
  assert.equal(files.get('/opt/shop/b'), undefined)
})

test('a script that is new in the object runs on new machines, and on others if a person retries its step', async () => {
  const scene = await made({})
  const ranOn = (address: string): number =>
    scene.world.machine(address).commands.filter(([name]) => name?.includes('/hook-')).length
  const more = [...machines({}), { addresses: [third], credentials: { name: 'ssh' } }]
  await change(scene, { hooks: [hook], machines: more })
  assert.match(scene.step(`AfterInstall@${second}`), /^Skipped: the machine was made before/)
  assert.deepEqual([ranOn(first), ranOn(second), ranOn(third)], [0, 0, 1])
  const changed = { ...hook, key: 'script' }
  await change(scene, { hooks: [changed, changed] })
  assert.deepEqual([ranOn(second), ranOn(third)], [0, 1])
  assert.match(scene.step(`AfterInstall@${third}`), /^Skipped: the machine was made before/)
})

test('a hub that becomes newer repeats nothing on machines that an older one has made', async () => {
  const scene = await made({ files: [motd('/etc/motd')], hooks: [hook] })
  const { story, world } = scene
  const { steps = [], machines: known = [], ...status } = story.status
  story.edge = {
    ...story.edge,
    status: {
      ...status,
      nodeSettings: [],
      steps: steps.map((step) => without(step, ['input'])),
      machines: known.map((machine) => without(machine, ['isMade', 'given'])),
    },
  }
  for (const { commands } of world.machines.values()) commands.length = 0
  await scene.settle()
  assert.equal(scene.ending(), 'Ready')
  const asked = [...world.machines.values()].flatMap(({ commands }) => commands)
  assert.deepEqual(asked, [])
  await change(scene, { machines: machines({ labels: { a: '1' } }) })
  assert.deepEqual(node(scene), ['a=1'])
})
