import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLogger, simulatedClock } from '@skerry/base'
import { openSqliteStore, type Store } from '@skerry/store'
import { HandoverActs } from './handover-acts.ts'
import { readContent } from './unit-content.ts'
import { UnitFence } from './unit-fence.ts'

const { signal } = new AbortController()

interface Master {
  readonly store: Store
  readonly fence: UnitFence
  readonly acts: HandoverActs
}

interface World {
  readonly first: Master
  readonly second: Master
}

/** Two masters on one store, each with a fence of its own and its own directory of contents; n1 is to go, and has one pod. */
async function withMasters(play: (world: World) => Promise<void>): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'skerry-units-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const context = { clock: simulatedClock(), log: silentLogger }
  const path = join(directory, 'store.db')
  const inner = stack.use(await openSqliteStore(path, {}, context))
  const open = async (name: string): Promise<Master> => {
    const fence = new UnitFence({ isShared: true })
    const store = await fence.guard(inner)
    const options = { directory: join(directory, name), isShared: true }
    return { store, fence, acts: new HandoverActs(fence, options, context) }
  }
  const first = await open('first')
  const second = await open('second')
  for (const [kind, name, spec] of [
    ['nodes', 'n1', {}],
    ['pods', 'default/till', { nodeName: 'n1' }],
    ['pods', 'default/other', { nodeName: 'n2' }],
  ] as const) {
    await put(second, `/registry/core/${kind}/${name}`, spec)
  }
  await play({ first, second })
}

const till = '/registry/core/pods/default/till'
const fenced = { record: { generation: 1, phase: 'fenced' }, nodes: ['n1'] } as const

async function put({ store }: Master, key: string, spec: object, label = 'a'): Promise<void> {
  const [name = '', namespace] = key.split('/').toReversed()
  const uid = key
  const metadata = { name, uid, labels: { label }, ...(key.includes('pods') ? { namespace } : {}) }
  const object = { apiVersion: 'v1', kind: key.includes('pods') ? 'Pod' : 'Node', metadata, spec }
  const { isApplied } = await store.write({ key, value: Buffer.from(JSON.stringify(object)) })
  assert.ok(isApplied)
}

const refused = { reason: 'Forbidden' }

test('an object that one of several masters has fenced is written by no other, though that one has not heard of it', async () => {
  await withMasters(async ({ first, second }) => {
    await first.acts.note('hall', fenced, signal)
    await assert.rejects(put(second, till, { nodeName: 'n1' }, 'late'), refused)
    const made = '/registry/core/pods/default/made'
    await assert.rejects(put(second, made, { nodeName: 'n1' }), refused)
    await put(second, '/registry/core/pods/default/other', { nodeName: 'n2' }, 'b')
    await first.acts.note('hall', { record: { generation: 2, phase: 'own' }, nodes: [] }, signal)
    await put(second, till, { nodeName: 'n1' }, 'late')
  })
})

test('a fence that was cut off while it rose has everything before it is packed', async () => {
  await withMasters(async ({ first, second }) => {
    const parent = { generation: 1, phase: 'fenced' } as const
    const keys = ['/registry/core/nodes/n1']
    const half = { parent, nodes: ['n1'], server: 'n1', keys, uids: [], namespaces: [] }
    await first.fence.put('hall', half)
    using _lead = await second.acts.lead()
    await second.acts.pack('hall', signal)
    const { content = '' } = second.acts.recordOf('hall')
    const objects = await readContent(second.acts.contentPath(content), signal)
    assert.ok(objects.some(({ key }) => key === till))
    await assert.rejects(put(first, till, { nodeName: 'n1' }, 'late'), refused)
  })
})

test('a master that leads no more changes nothing of a unit, and answers no node', async () => {
  await withMasters(async ({ first, second }) => {
    const lead = await first.acts.lead()
    await first.acts.note('hall', fenced, signal)
    using _next = await second.acts.lead()
    assert.equal(await second.acts.hasContent('hall'), false)
    await second.acts.pack('hall', signal)
    await assert.rejects(first.acts.pack('hall', signal), /its record has changed/)
    const late = { record: { generation: 2, phase: 'own' }, nodes: [] } as const
    const { content } = second.acts.recordOf('hall')
    assert.deepEqual(first.acts.recordOf('hall'), { ...fenced.record, content }, 'it looks again')
    await second.acts.note('hall', late, signal)
    await assert.rejects(first.acts.note('hall', late, signal), /its record has changed/)
    assert.deepEqual([first.acts.isLeading, second.acts.isLeading], [true, true])
    lead[Symbol.dispose]()
    assert.equal(first.acts.isLeading, false)
  })
})
