import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject } from '@skerry/api'
import { builtinKinds } from '@skerry/kinds'
import { configMap, writeOf } from '../testing/write-of.ts'
import type { JournaledWrite } from './journaled-write.ts'
import { mergePatchOf, planReplay, type ReplayPlan } from './plan-replay.ts'
import { marksAnnotation } from './write-marks.ts'

const kinds = await builtinKinds()
const mark = { journal: 'j1', seq: 7 }

function planOf(
  write: JournaledWrite,
  cloud: AnyObject | undefined,
  own: { isSent?: boolean; uids?: Record<string, string> } = {},
): ReplayPlan {
  const { isSent = false, uids = {} } = own
  const kind = kinds.find(({ resource }) => resource === write.resource.resource)
  assert.ok(kind)
  const givenUid = (local: string): string | undefined => uids[local]
  return planReplay({ write, cloud, kind, mark, isSent, givenUid })
}

const marked = { annotations: { [marksAnnotation]: 'j1/7' } }
/** Changed by somebody at the control plane since the node saw it. */
const newer = { resourceVersion: '9' }

interface Case {
  readonly title: string
  readonly write: Partial<JournaledWrite>
  readonly cloud: AnyObject | undefined
  readonly isSent?: boolean
  readonly act: string
  readonly data?: object
  readonly conflict?: string
}

const cases: readonly Case[] = [
  {
    title: 'a change of an object that nobody else changed',
    write: {},
    cloud: configMap({ color: 'red' }),
    act: 'change',
    data: { color: 'blue' },
  },
  {
    title: 'changes of different fields',
    write: {},
    cloud: configMap({ color: 'red', size: 'xl' }, newer),
    act: 'change',
    data: { color: 'blue', size: 'xl' },
  },
  {
    title: 'a clash that the control plane wins still marks the object',
    write: {},
    cloud: configMap({ color: 'green' }, newer),
    act: 'change',
    data: { color: 'green' },
    conflict: 'Clash cloud .data.color "red" "blue" "green"',
  },
  {
    title: 'a clash that the node wins',
    write: { winner: 'edge' },
    cloud: configMap({ color: 'green' }, newer),
    act: 'change',
    data: { color: 'blue' },
    conflict: 'Clash edge .data.color "red" "blue" "green"',
  },
  {
    title: 'a clash that the later write wins: the control plane',
    write: { winner: 'newest' },
    cloud: configMap(
      { color: 'green' },
      { ...newer, managedFields: [{ manager: 'x', time: '2026-01-01T00:00:20Z' }] },
    ),
    act: 'change',
    data: { color: 'green' },
    conflict: 'Clash cloud .data.color "red" "blue" "green"',
  },
  {
    title: 'a clash that the later write wins: the node',
    write: { winner: 'newest' },
    cloud: configMap(
      { color: 'green' },
      { ...newer, managedFields: [{ manager: 'x', time: '2026-01-01T00:00:01Z' }] },
    ),
    act: 'change',
    data: { color: 'blue' },
    conflict: 'Clash edge .data.color "red" "blue" "green"',
  },
  {
    title: 'a write that the control plane has already',
    write: {},
    cloud: configMap({ color: 'later' }, { ...newer, ...marked }),
    act: 'none',
  },
  {
    title: 'a new object',
    write: { verb: 'create', base: undefined },
    cloud: undefined,
    act: 'create',
    data: { color: 'blue' },
  },
  {
    title: 'a new object that both sides made alike',
    write: { verb: 'create', base: undefined },
    cloud: configMap({ color: 'blue', size: 'xl' }, { uid: 'u2' }),
    act: 'change',
    data: { color: 'blue', size: 'xl' },
  },
  {
    title: 'a new object that both sides made differently',
    write: { verb: 'create', base: undefined },
    cloud: configMap({ color: 'green' }, { uid: 'u2' }),
    act: 'change',
    data: { color: 'green' },
    conflict: 'Clash cloud .data.color - "blue" "green"',
  },
  {
    title: 'a new object whose answer was lost, and that is not there',
    write: { verb: 'create', base: undefined },
    cloud: undefined,
    isSent: true,
    act: 'none',
    conflict: 'UnknownOutcome cloud . - {…} -',
  },
  {
    title: 'a change of an object that the control plane deleted',
    write: {},
    cloud: undefined,
    act: 'none',
    conflict: 'Clash cloud . {…} {…} -',
  },
  {
    title: 'a change of an object that the control plane deleted, where the node wins',
    write: { winner: 'edge' },
    cloud: undefined,
    act: 'create',
    data: { color: 'blue' },
    conflict: 'Clash edge . {…} {…} -',
  },
  {
    title: 'a change of an object that the control plane deleted and made again',
    write: {},
    cloud: configMap({ color: 'red' }, { ...newer, uid: 'u2' }),
    act: 'change',
    data: { color: 'red' },
    conflict: 'Clash cloud . {…} {…} {…}',
  },
  {
    title: 'a deletion of an object that nobody changed',
    write: { verb: 'delete', edge: undefined },
    cloud: configMap({ color: 'red' }, newer),
    act: 'delete',
  },
  {
    title: 'a deletion on both sides',
    write: { verb: 'delete', edge: undefined },
    cloud: undefined,
    act: 'none',
  },
  {
    title: 'a deletion of an object that the control plane changed',
    write: { verb: 'delete', edge: undefined },
    cloud: configMap({ color: 'green' }, newer),
    act: 'none',
    conflict: 'Clash cloud . {…} - {…}',
  },
  {
    title: 'a deletion of an object that the control plane changed, where the node wins',
    write: { verb: 'delete', edge: undefined, winner: 'edge' },
    cloud: configMap({ color: 'green' }, newer),
    act: 'delete',
    conflict: 'Clash edge . {…} - {…}',
  },
  {
    title: 'a deletion of an object whose name another one has taken',
    write: { verb: 'delete', edge: undefined },
    cloud: configMap({ color: 'green' }, { ...newer, uid: 'u2' }),
    act: 'none',
  },
]

for (const { title, write, cloud, isSent = false, act, data, conflict } of cases) {
  test(`a write of a node comes to the control plane: ${title}`, () => {
    const plan = planOf(writeOf(write), cloud, { isSent })
    assert.equal(plan.act.type, act)
    const made = objectOf(plan)
    assert.deepEqual(made?.['data'], data)
    if (made) assert.equal(made.metadata.annotations?.[marksAnnotation], 'j1/7')
    assert.equal(conflictText(plan), conflict)
  })
}

function objectOf({ act }: ReplayPlan): AnyObject | undefined {
  if (act.type === 'create') return act.object
  return act.type === 'change' ? act.next : undefined
}

function conflictText({ conflict }: ReplayPlan): string | undefined {
  if (!conflict) return undefined
  const { reason, winner, fields } = conflict
  const short = (text = '-'): string => (text.startsWith('{') ? '{…}' : text)
  const values = fields.map(
    ({ path, base, edge, cloud }) => `${path} ${short(base)} ${short(edge)} ${short(cloud)}`,
  )
  return `${reason} ${winner} ${values.join(', ')}`
}

test('fields that a server sets are nobody’s change, and stay the server’s', () => {
  const cloud = configMap(
    { color: 'red' },
    { ...newer, generation: 4, creationTimestamp: '2026-01-01T00:00:00Z' },
  )
  const plan = planOf(writeOf(), cloud)
  const { metadata } = objectOf(plan) ?? {}
  assert.equal(metadata?.resourceVersion, '9')
  assert.equal(metadata?.generation, 4)
  assert.equal(plan.conflict, undefined)
})

test('an object that was made on the node keeps its owner, under the uid that the control plane gave it', () => {
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'local' }]
  const edge = configMap({ color: 'blue' }, { ownerReferences })
  const write = writeOf({ verb: 'create', base: undefined, edge })
  const plan = planOf(write, undefined, { uids: { local: 'given' } })
  assert.equal(objectOf(plan)?.metadata.ownerReferences?.[0]?.uid, 'given')
})

test('an apply stays an apply, and takes the value of the control plane where that wins', () => {
  const configuration = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', namespace: 'shop' },
    data: { color: 'blue', size: 's' },
  }
  const edge = configMap({ color: 'blue', size: 's' })
  const write = writeOf({ verb: 'apply', edge, applied: { configuration, isForced: true } })
  const { act } = planOf(write, configMap({ color: 'green' }, newer))
  assert.equal(act.type, 'apply')
  assert.ok(act.type === 'apply')
  assert.deepEqual(act.configuration['data'], { color: 'green', size: 's' })
  assert.equal(act.isForced, true)
})

test('a merge patch leads from one object to the other', () => {
  const from = { a: { b: 1, c: [1] }, d: 1, e: 1 }
  const to = { a: { b: 2, c: [1, 2] }, d: 1, f: { g: 1 } }
  assert.deepEqual(mergePatchOf(from, to), { a: { b: 2, c: [1, 2] }, e: null, f: { g: 1 } })
})
