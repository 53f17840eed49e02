import assert from 'node:assert/strict'
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLogger, simulatedClock } from '@skerry/base'
import type { UnitRecord } from '@skerry/edge-apps'
import { callApi, startTestApiServer, type TestApiServer } from '@skerry/testing'
import { HandoverActs } from './handover-acts.ts'
import { readContent, writeContent } from './unit-content.ts'
import { UnitFence } from './unit-fence.ts'

const pods = '/api/v1/namespaces/default/pods'
const { signal } = new AbortController()
const container = { name: 'c', image: 'busybox' }

interface World extends AsyncDisposable {
  readonly api: TestApiServer
  readonly fence: UnitFence
  readonly acts: HandoverActs
  readonly directory: string
  send(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: object,
  ): Promise<{ status: number; text: string; body: Answer }>
}

/** The fields of answers that are read here. */
interface Answer {
  readonly metadata: { readonly uid: string; readonly labels?: Readonly<Record<string, string>> }
  readonly spec: { readonly taints?: readonly unknown[] }
  readonly items: readonly { readonly metadata: { readonly name: string } }[]
}

/** A site with nodes n1 and n2, of which n1 is to go; each has one pod. */
async function startWorld(): Promise<World> {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'skerry-units-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const fence = new UnitFence()
  const api = stack.use(
    await startTestApiServer({
      encrypted: (store) => ({
        ...fence.wrap(store),
        setPlan: () => undefined,
        isStale: async () => false,
      }),
    }),
  )
  const acts = actsOf(fence, directory)
  const send: World['send'] = async (method, path, body) =>
    callApi(api.transport, { method, path, ...(body ? { body } : {}) })
  for (const name of ['n1', 'n2']) {
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name } }
    assert.equal((await send('POST', '/api/v1/nodes', node)).status, 201)
    assert.equal((await send('POST', pods, podOn(name, `on-${name}`))).status, 201)
  }
  const owned = stack.move()
  return { api, fence, acts, directory, send, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

function actsOf(fence: UnitFence, directory: string): HandoverActs {
  const context = { clock: simulatedClock(), log: silentLogger }
  return new HandoverActs(fence, { directory, isShared: false }, context)
}

function podOn(nodeName: string | undefined, name: string): object {
  const spec = { containers: [container], ...(nodeName === undefined ? {} : { nodeName }) }
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec }
}

const labelled = { metadata: { labels: { seen: 'yes' } } }

async function relabel({ api }: World, path: string): Promise<number> {
  const headers = { 'content-type': 'application/merge-patch+json' }
  const answer = await callApi(api.transport, { method: 'PATCH', path, headers, body: labelled })
  return answer.status
}

async function fenced(world: World, generation = 1): Promise<void> {
  await world.acts.note('hall', { record: { generation, phase: 'fenced' }, nodes: ['n1'] }, signal)
}

async function packed(world: World): Promise<string> {
  await fenced(world)
  await world.acts.pack('hall', signal)
  return world.acts.recordOf('hall').content ?? ''
}

test('nobody writes a fenced node, its pods, or new pods onto it, and everything else goes on', async () => {
  await using world = await startWorld()
  await world.send('POST', pods, podOn(undefined, 'waiting'))
  await fenced(world)
  assert.equal(await relabel(world, '/api/v1/nodes/n1'), 403)
  assert.equal(await relabel(world, `${pods}/on-n1`), 403)
  const refused = await world.send('DELETE', `${pods}/on-n1?gracePeriodSeconds=0`)
  assert.equal(refused.status, 403)
  assert.match(refused.text, /unit hall has it as a cluster of its own; change it there/)
  const key = { namespace: 'default', name: 'waiting', subresource: 'binding' }
  const bind = world.api.objects.update({ group: '', resource: 'pods' }, key, (pod) => {
    pod['spec'] = { containers: [container], nodeName: 'n1' }
  })
  await assert.rejects(bind, { reason: 'Forbidden' })
  assert.equal((await world.send('POST', pods, podOn('n1', 'late'))).status, 403)
  assert.equal(await relabel(world, '/api/v1/nodes/n2'), 200)
  assert.equal(await relabel(world, `${pods}/on-n2`), 200)
})

test('a fence stands after a restart, and falls when the unit is taken back before its release', async () => {
  await using world = await startWorld()
  await packed(world)
  const again = new UnitFence()
  await again.guard(world.api.store)
  assert.equal(again.holdOf('hall')?.parent.phase, 'fenced')
  assert.equal(again.unitOfNode('n1'), 'hall')
  const marked = await world.send('GET', '/api/v1/nodes/n1')
  assert.equal(marked.body.spec.taints?.length, 1, 'the scheduler looks elsewhere')
  await world.acts.note('hall', { record: { generation: 2, phase: 'own' }, nodes: ['n1'] }, signal)
  assert.equal((await world.send('GET', '/api/v1/nodes/n1')).body.spec.taints, undefined)
  assert.equal(await relabel(world, `${pods}/on-n1`), 200)
  assert.deepEqual(await readdir(world.directory), [], 'no content is kept')
})

test('a pack has the uids of the objects, and not those of other nodes', async () => {
  await using world = await startWorld()
  const { uid } = (await world.send('GET', `${pods}/on-n1`)).body.metadata
  const objects = await readContent(world.acts.contentPath(await packed(world)), signal)
  const found = objects.filter(({ resource }) => resource === 'core/pods')
  assert.deepEqual(
    found.map(({ object }) => object.metadata.uid),
    [uid],
  )
  const nodes = objects.filter(({ resource }) => resource === 'core/nodes')
  assert.deepEqual(
    nodes.map(({ object }) => [object.metadata.name, object['spec']]),
    [['n1', {}]],
  )
})

/** Makes what the unit's own control plane seals: one pod was changed, one was made, and none is left of another one. */
async function sealAtUnit(world: World, content: string): Promise<string> {
  const objects = await readContent(world.acts.contentPath(content), signal)
  const changed = objects.map((each, at) => ({
    ...each,
    object: { ...each.object, metadata: { ...each.object.metadata, labels: { seen: 'there' } } },
    modRevision: at + 2,
    createRevision: at + 2,
  }))
  const pod = changed.find(({ resource }) => resource === 'core/pods')
  assert.ok(pod)
  const metadata = { ...pod.object.metadata, name: 'made', uid: 'made-there' }
  const key = pod.key.replace('on-n1', 'made')
  const made = { ...pod, key, object: { ...pod.object, metadata }, modRevision: 1_000 }
  const part = join(world.directory, 'sealed')
  const digest = await writeContent(part, { objects: [...changed, made] }, signal)
  await rename(part, world.acts.contentPath(digest))
  return digest
}

test('a unit comes back with its changes under the same uids, however often the taking is cut off', async () => {
  await using world = await startWorld()
  const before = await world.send('GET', `${pods}/on-n1`)
  const content = await packed(world)
  await world.acts.note(
    'hall',
    { record: { generation: 1, phase: 'released', content }, nodes: [] },
    signal,
  )
  await world.acts.note('hall', { record: { generation: 2, phase: 'recalled' }, nodes: [] }, signal)
  const sealed = await sealAtUnit(world, content)
  const record = { generation: 2, phase: 'own' } as const
  const gone = await world.acts.take('hall', { content: 'a'.repeat(64), record }, signal)
  assert.deepEqual(gone, { isTaken: false }, 'a content that has not come')
  const cut = AbortSignal.abort(new Error('cut off'))
  await assert.rejects(world.acts.take('hall', { content: sealed, record }, cut))
  assert.equal(await relabel(world, `${pods}/on-n1`), 403, 'the fence stands until all is there')
  const taken = await world.acts.take('hall', { content: sealed, record }, signal)
  assert.deepEqual(taken, { isTaken: true })
  const after = await world.send('GET', `${pods}/on-n1`)
  assert.equal(after.body.metadata.uid, before.body.metadata.uid)
  assert.equal(after.body.metadata.labels?.['seen'], 'there')
  const names = (await world.send('GET', pods)).body.items.map(({ metadata }) => metadata.name)
  assert.deepEqual(names.toSorted(), ['made', 'on-n1', 'on-n2'])
  assert.equal(await relabel(world, '/api/v1/nodes/n1'), 200)
})

test('a parent asks for the content that was sealed for its own call alone', async () => {
  await using world = await startWorld()
  const content = await packed(world)
  await world.acts.note(
    'hall',
    { record: { generation: 1, phase: 'released', content }, nodes: [] },
    signal,
  )
  await world.acts.note('hall', { record: { generation: 2, phase: 'recalled' }, nodes: [] }, signal)
  const missing = async (record: UnitRecord): Promise<string | undefined> => {
    world.acts.hear('n1', { record, node: away })
    return (await world.acts.orderFor('n1')).wants
  }
  const sealed = { generation: 2, phase: 'sealed', content: 'b'.repeat(64) } as const
  assert.equal(await missing(sealed), sealed.content)
  assert.equal(await missing({ ...sealed, generation: 1 }), undefined)
  assert.equal(await missing({ ...sealed, phase: 'open' }), undefined)
})

test('a unit stays while one of its nodes does not ask', async () => {
  await using world = await startWorld()
  const fault = async (): Promise<string | undefined> =>
    (await world.acts.faultsOf(['n1', 'n2'], signal))[0]?.message
  const silent = /do not ask about their unit: n1, n2; start "skerry node" there with --lead-unit/
  assert.match((await fault()) ?? '', silent)
  const record = { generation: 0, phase: 'empty' } as const
  world.acts.hear('n1', { record, node: atHome })
  assert.match((await fault()) ?? '', /unit: n2; start/)
  world.acts.hear('n2', { record, node: atHome })
  assert.equal(await fault(), undefined)
})

test('nothing is taken if the unit has made a workload that could run on other nodes, and it is named', async () => {
  await using world = await startWorld()
  const content = await packed(world)
  const parent = { generation: 1, phase: 'released', content } as const
  await world.acts.note('hall', { record: parent, nodes: [] }, signal)
  await world.acts.note('hall', { record: { generation: 2, phase: 'recalled' }, nodes: [] }, signal)
  const objects = await readContent(world.acts.contentPath(content), signal)
  const metadata = { namespace: 'default', name: 'miner', uid: 'miner' }
  const spec = { template: { spec: { containers: [container] } } }
  const made = {
    key: '/registry/apps/deployments/default/miner',
    resource: 'apps/deployments',
    object: { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec },
  }
  const part = join(world.directory, 'sealed')
  const written = [...objects, made].map((each, at) => ({
    ...each,
    modRevision: at + 2,
    createRevision: at + 2,
  }))
  const sealed = await writeContent(part, { objects: written }, signal)
  await rename(part, world.acts.contentPath(sealed))
  const record = { generation: 2, phase: 'own' } as const
  const { isTaken, refusal } = await world.acts.take('hall', { content: sealed, record }, signal)
  assert.equal(isTaken, false)
  assert.match(
    refusal ?? '',
    /^apps\/deployments\/default\/miner may run outside of the unit; .*; set autonomyLevel to L4/,
  )
  assert.equal(await relabel(world, `${pods}/on-n1`), 403, 'the fence stands')
  assert.equal((await world.send('GET', '/apis/apps/v1/deployments')).body.items.length, 0)
})

test('a unit that is given up as lost is the parent’s again, as it was when it went', async () => {
  await using world = await startWorld()
  const content = await packed(world)
  const parent = { generation: 1, phase: 'released', content } as const
  await world.acts.note('hall', { record: parent, nodes: [] }, signal)
  await world.acts.note('hall', { record: { generation: 2, phase: 'recalled' }, nodes: [] }, signal)
  await world.acts.note('hall', { record: { generation: 3, phase: 'own' }, nodes: [] }, signal)
  assert.equal(await relabel(world, `${pods}/on-n1`), 200)
  assert.equal((await world.send('GET', '/api/v1/nodes/n1')).body.spec.taints, undefined)
  world.acts.hear('n1', { record: { generation: 1, phase: 'open', content }, node: away })
  const order = await world.acts.orderFor('n1')
  assert.deepEqual([order.unit, order.parent], ['hall', { generation: 3, phase: 'own' }])
})

test('other nodes hear of their unit from its server alone, and how to join once it is open', async () => {
  await using world = await startWorld()
  const nodes = ['n2', 'n1']
  await world.acts.note('hall', { record: { generation: 1, phase: 'fenced' }, nodes }, signal)
  await world.acts.pack('hall', signal)
  const { content = '' } = world.acts.recordOf('hall')
  const join = { server: 'https://10.0.0.2:6443', token: 'a', caHash: 'b' }
  const filled = { generation: 1, phase: 'filled', content } as const
  world.acts.hear('n1', { record: filled, node: atHome, members: [], join })
  assert.equal((await world.acts.orderFor('n1')).isServer, true)
  const early = await world.acts.orderFor('n2')
  assert.deepEqual([early.heard, early.join], [filled, undefined])
  const parent = { generation: 1, phase: 'released', content } as const
  await world.acts.note('hall', { record: parent, nodes }, signal)
  const open = { ...filled, phase: 'open' } as const
  world.acts.hear('n2', { record: open, node: atHome })
  assert.deepEqual(world.acts.heardOf('hall'), filled)
  world.acts.hear('n1', { record: open, node: away, members: [], join })
  assert.deepEqual(await world.acts.orderFor('n2'), { unit: 'hall', parent, heard: open, join })
  assert.equal((await world.acts.orderFor('n1')).needsJoin, true)
  world.acts.hear('n2', { record: open, node: away })
  assert.equal((await world.acts.orderFor('n1')).needsJoin, false)
})

test('of three servers, the one that has sealed speaks for the unit, and the others go on until then', async () => {
  await using world = await startWorld()
  const nodes = ['n1', 'n2', 'n3']
  const noted = { record: { generation: 1, phase: 'fenced' }, nodes, masters: nodes } as const
  await world.acts.note('hall', noted, signal)
  await world.acts.pack('hall', signal)
  const { content = '' } = world.acts.recordOf('hall')
  const open = { generation: 1, phase: 'open', content } as const
  const empty = { generation: 0, phase: 'empty' } as const
  const released = { generation: 1, phase: 'released', content } as const
  await world.acts.note('hall', { record: released, nodes: [] }, signal)
  const masterJoin = { server: 'https://10.0.0.2:6443', token: 'a', caHash: 'b' }
  world.acts.hear('n1', { record: open, node: away, members: ['n1'], masterJoin })
  const asked = await world.acts.orderFor('n2')
  assert.deepEqual([asked.master, asked.masterJoin], ['runs', masterJoin])
  assert.equal((await world.acts.orderFor('n1')).needsMasterJoin, true)
  await world.acts.note('hall', { record: { generation: 2, phase: 'recalled' }, nodes: [] }, signal)
  for (const node of nodes) {
    world.acts.hear(node, { record: node === 'n1' ? open : empty, node: away, members: nodes })
  }
  assert.equal((await world.acts.orderFor('n3')).master, 'ends')
  const sealed = { generation: 2, phase: 'sealed', content: 'c'.repeat(64) } as const
  world.acts.hear('n2', { record: sealed, node: away, members: [] })
  assert.deepEqual(world.acts.heardOf('hall'), sealed)
  assert.equal((await world.acts.orderFor('n2')).wants, sealed.content)
  const others = [await world.acts.orderFor('n1'), await world.acts.orderFor('n3')]
  assert.deepEqual(
    others.map(({ master, wants }) => [master, wants]),
    [
      [undefined, undefined],
      [undefined, undefined],
    ],
  )
  const again = { generation: 3, phase: 'released', content: sealed.content } as const
  await world.acts.note('hall', { record: again, nodes: [] }, signal)
  assert.equal((await world.acts.orderFor('n2')).isServer, true, 'only it has the content')
})

const atHome = { generation: 0, follows: 'parent' } as const
const away = { generation: 1, follows: 'unit' } as const
