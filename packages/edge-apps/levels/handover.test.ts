import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  firstRecords,
  planHandover,
  type ParentRecord,
  type ParentStep,
  type Side,
  type UnitRecord,
} from './handover.ts'
import { HandoverWorld } from './testing/handover-world.ts'

const own: ParentRecord = { generation: 4, phase: 'own' }
const fenced: ParentRecord = { generation: 5, phase: 'fenced' }
const packed: ParentRecord = { ...fenced, content: 'a' }
const released: ParentRecord = { generation: 5, phase: 'released', content: 'a' }
const recalled: ParentRecord = { generation: 6, phase: 'recalled' }
const filled: UnitRecord = { generation: 5, phase: 'filled', content: 'a' }
const open: UnitRecord = { generation: 5, phase: 'open', content: 'a' }
const sealed: UnitRecord = { generation: 6, phase: 'sealed', content: 'b' }

const parentTable: readonly [
  title: string,
  view: { wanted: Side; parent: ParentRecord; unit?: UnitRecord; lost?: number; isGone?: boolean },
  step: ParentStep,
][] = [
  ['acts on, if nobody wants more', { wanted: 'parent', parent: own }, { act: 'none' }],
  [
    'ceases to act before anything else',
    { wanted: 'unit', parent: own },
    { act: 'note', record: { generation: 5, phase: 'fenced' } },
  ],
  ['packs once nothing changes', { wanted: 'unit', parent: fenced }, { act: 'pack' }],
  [
    'takes a unit back that was never released',
    { wanted: 'parent', parent: packed, unit: filled },
    { act: 'note', record: { generation: 6, phase: 'own' } },
  ],
  [
    'releases nothing to a unit that has another content',
    { wanted: 'unit', parent: packed, unit: { ...filled, content: 'older' } },
    { act: 'none', waitsFor: 'its own control plane has the content' },
  ],
  [
    'releases what the unit has',
    { wanted: 'unit', parent: packed, unit: filled },
    { act: 'note', record: released },
  ],
  [
    'fences again what it packed and lost before the unit had it',
    { wanted: 'unit', parent: packed, isGone: true },
    { act: 'note', record: { generation: 6, phase: 'fenced' } },
  ],
  [
    'needs no content any more that the unit has',
    { wanted: 'unit', parent: packed, unit: filled, isGone: true },
    { act: 'note', record: released },
  ],
  [
    'calls a unit back before it acts',
    { wanted: 'parent', parent: released, unit: open },
    { act: 'note', record: recalled },
  ],
  [
    'takes nothing from a unit that goes on',
    { wanted: 'parent', parent: recalled, unit: open },
    { act: 'none', waitsFor: 'its own control plane has stopped' },
  ],
  [
    'takes nothing that was sealed for an earlier call',
    { wanted: 'parent', parent: { generation: 8, phase: 'recalled' }, unit: sealed },
    { act: 'none', waitsFor: 'its own control plane has stopped' },
  ],
  [
    'acts without a unit whose server is said to be destroyed',
    { wanted: 'parent', parent: recalled, unit: open, lost: 6 },
    { act: 'note', record: { generation: 7, phase: 'own' } },
  ],
  [
    'believes nobody who said so of an earlier call',
    { wanted: 'parent', parent: { generation: 8, phase: 'recalled' }, unit: open, lost: 6 },
    { act: 'none', waitsFor: 'its own control plane has stopped' },
  ],
  [
    'takes what was sealed, and then acts',
    { wanted: 'parent', parent: recalled, unit: sealed },
    { act: 'take', content: 'b', record: { generation: 6, phase: 'own' } },
  ],
  [
    'lets the unit go on with what it has sealed',
    { wanted: 'unit', parent: recalled, unit: sealed },
    { act: 'note', record: { generation: 7, phase: 'released', content: 'b' } },
  ],
]

for (const [title, view, step] of parentTable) {
  test(`the parent ${title}`, () => {
    assert.deepEqual(planHandover.parent(view), step)
  })
}

test('a unit opens only the content that was released to it', () => {
  const opened = { act: 'note', record: open }
  assert.deepEqual(planHandover.unit({ unit: filled, parent: released }), opened)
  for (const parent of [undefined, packed, { ...released, content: 'b' }, recalled, own]) {
    const step = planHandover.unit({ unit: filled, parent })
    assert.notEqual(step.act === 'note' && step.record.phase, 'open', JSON.stringify(parent))
  }
  assert.deepEqual(planHandover.unit({ unit: sealed, parent: released }), { act: 'none' })
  const later = { ...filled, generation: 7 }
  assert.deepEqual(planHandover.unit({ unit: later, parent: released }), { act: 'none' })
})

test('a unit that was given up as lost stops once it hears of it', () => {
  const parent: ParentRecord = { generation: 7, phase: 'own' }
  assert.deepEqual(planHandover.unit({ unit: open, parent }), { act: 'seal', generation: 7 })
})

test('a unit that acts is not filled over', () => {
  const parent: ParentRecord = { generation: 9, phase: 'fenced', content: 'c' }
  assert.deepEqual(planHandover.unit({ unit: open, parent }), { act: 'none' })
})

test('a node obeys the newest side that acts, and no statement that is older than its own record', () => {
  const node = { generation: 4, follows: 'parent' } as const
  assert.deepEqual(planHandover.node({ node, parent: packed, unit: filled }), { act: 'none' })
  const gone = { generation: 5, follows: 'unit' } as const
  assert.deepEqual(planHandover.node({ node, parent: released, unit: open }), {
    act: 'follow',
    record: gone,
  })
  assert.deepEqual(planHandover.node({ node: gone, parent: own, unit: open }), { act: 'none' })
  const back = { generation: 6, phase: 'own' } as const
  assert.deepEqual(planHandover.node({ node, parent: back, unit: open }), {
    act: 'note',
    record: { generation: 6, follows: 'parent' },
  })
})

const seeds = Array.from({ length: 200 }, (_, at) => 20_261_128 + at)

test(`cut, killed or called back at any step, one side acts at most, and nothing is lost (seeds from ${seeds[0]})`, () => {
  for (const seed of seeds) {
    const world = new HandoverWorld(seed)
    for (let step = 0; step < 400; step += 1) world.playOne()
    const wanted = world.wanted
    world.endFaults()
    for (let step = 0; step < 40 && !world.isSettled(); step += 1) world.playAll()
    assert.ok(world.isSettled(), `seed ${seed}: ${wanted} was wanted, and ${world.describe()}`)
  }
})

test('a handover without faults takes a handful of steps, and so does the way back', () => {
  const world = new HandoverWorld(1)
  world.endFaults()
  const rounds = { unit: 0, parent: 0 }
  for (const wanted of ['unit', 'parent'] as const) {
    world.want(wanted)
    for (; !world.isSettled() && rounds[wanted] < 20; rounds[wanted] += 1) world.playAll()
  }
  assert.deepEqual(world.describe(), 'parent own 2, unit sealed 2, nodes parent parent parent')
  assert.ok(rounds.unit <= 6 && rounds.parent <= 4, JSON.stringify(rounds))
})

test('a unit begins at its parent', () => {
  assert.equal(firstRecords.parent.phase, 'own')
  const step = planHandover.unit({ unit: firstRecords.unit, parent: firstRecords.parent })
  assert.deepEqual(step, { act: 'none' })
})
