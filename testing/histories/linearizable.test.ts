import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '@skerry/base'
import type { Operation, Version, WriteAction } from './history.ts'
import { linearizabilityFaults } from './linearizable.ts'

type Times = readonly [calledMs: number, answeredMs: number]

function read(client: string, [calledMs, answeredMs]: Times, found?: Version): Operation {
  return { client, key: 'k', calledMs, answeredMs, action: { kind: 'read', found } }
}

function write(
  client: string,
  [calledMs, answeredMs]: Times,
  action: Omit<WriteAction, 'kind'>,
): Operation {
  return { client, key: 'k', calledMs, answeredMs, action: { kind: 'write', ...action } }
}

const at = (value: string, revision: number): Version => ({ value, revision })
const made = write('a', [0, 10], { value: 'x', expect: 0, outcome: 5 })
const never = Infinity

const sound: Readonly<Record<string, readonly Operation[]>> = {
  'a read during a write sees the old or the new value': [
    made,
    write('a', [20, 40], { value: 'y', expect: 5, outcome: 7 }),
    read('b', [21, 30], at('x', 5)),
    read('c', [22, 31], at('y', 7)),
  ],
  'a write without an answer was never done': [
    made,
    write('a', [20, never], { value: 'y', expect: 5, outcome: 'unknown' }),
    read('b', [30, 40], at('x', 5)),
  ],
  'a write without an answer took effect late': [
    made,
    write('a', [20, never], { value: 'y', expect: 5, outcome: 'unknown' }),
    read('b', [30, 40], at('x', 5)),
    read('b', [50, 60], at('y', 9)),
  ],
  'a write is refused by one that nobody saw': [
    made,
    write('a', [20, never], { value: 'y', expect: 5, outcome: 'unknown' }),
    write('b', [30, 40], { value: 'z', expect: 5, outcome: 'refused' }),
  ],
  'of two writes at once one is refused': [
    made,
    write('a', [20, 40], { value: 'y', expect: 5, outcome: 'refused' }),
    write('b', [20, 40], { value: 'z', expect: 5, outcome: 8 }),
    read('a', [50, 60], at('z', 8)),
  ],
}

for (const [title, history] of Object.entries(sound)) {
  test(`linearizable: ${title}`, () => assert.deepEqual(linearizabilityFaults(history), []))
}

const faulty: Readonly<Record<string, readonly [readonly Operation[], RegExp]>> = {
  'a read of the past': [
    [
      made,
      write('a', [20, 30], { value: 'y', expect: 5, outcome: 7 }),
      read('b', [31, 40], at('x', 5)),
    ],
    /b read x at 5, but it could only be y at 7/,
  ],
  'two reads that go back during a write': [
    [
      made,
      write('a', [20, 90], { value: 'y', expect: 5, outcome: 7 }),
      read('b', [30, 40], at('y', 7)),
      read('c', [50, 60], at('x', 5)),
    ],
    /c read x at 5/,
  ],
  'an acknowledged write that is gone': [[made, read('b', [20, 30])], /b read nothing/],
  'two writes over one revision': [
    [
      made,
      write('a', [20, 30], { value: 'y', expect: 5, outcome: 7 }),
      write('b', [20, 30], { value: 'z', expect: 5, outcome: 8 }),
    ],
    /wrote [yz] over 5/,
  ],
  'a refused write that took effect': [
    [
      made,
      write('a', [20, 30], { value: 'y', expect: 4, outcome: 'refused' }),
      read('b', [40, 50], at('y', 6)),
    ],
    /b read y at 6/,
  ],
  'a refusal without a reason': [
    [made, write('a', [20, 30], { value: 'y', expect: 5, outcome: 'refused' })],
    /a wrote y over 5 \(refused\)/,
  ],
  'a value at two revisions': [
    [made, read('b', [20, 30], at('x', 6))],
    /value x was seen at revision 5 and at 6/,
  ],
  'a revision that goes back': [
    [made, write('b', [20, 30], { value: 'y', outcome: 4 })],
    /b wrote y \(4\)/,
  ],
  'a value of nobody': [[made, read('b', [20, 30], at('q', 6))], /b read q at 6/],
  'a read before the write was called': [
    [read('b', [0, 5], at('y', 6)), write('a', [10, 20], { value: 'y', expect: 0, outcome: 6 })],
    /b read y at 6, but it could only be nothing/,
  ],
}

for (const [title, [history, fault]] of Object.entries(faulty)) {
  test(`not linearizable: ${title}`, () => {
    const [found, ...more] = linearizabilityFaults(history)
    assert.match(found ?? 'no fault', fault)
    assert.deepEqual(more, [])
  })
}

test('keys are judged apart', () => {
  const other = { ...made, key: 'l', action: { ...made.action, value: 'w' } } as Operation
  assert.deepEqual(linearizabilityFaults([made, other]), [])
})

/** Runs clients against a register with answers that are late or lost; `stale` reads come from the past. */
function simulate(seed: number, isStale: boolean): Operation[] {
  const random = seededRandom(seed)
  const versions: Version[] = []
  const operations: Operation[] = []
  let revision = 1
  for (let n = 0; n < 400; n += 1) {
    const effectMs = n * 10 + random.next() * 9
    const span: Times = [effectMs - random.next() * 40, effectMs + random.next() * 40]
    const newest = versions.at(-1)
    const client = `c${n % 5}`
    if (random.next() < 0.5) {
      const isOld = isStale && n > 200 && random.next() < 0.2
      operations.push(read(client, span, isOld ? versions.at(-12) : newest))
      continue
    }
    const expect = random.next() < 0.8 ? (newest?.revision ?? 0) : 1
    const value = `v${n}`
    const isApplied = expect === (newest?.revision ?? 0)
    revision += 1 + Math.floor(random.next() * 3)
    if (isApplied) versions.push({ value, revision })
    const isLost = random.next() < 0.03
    const outcome = isLost ? 'unknown' : isApplied ? revision : 'refused'
    const times: Times = isLost ? [span[0], never] : span
    operations.push(write(client, times, { value, expect, outcome }))
  }
  return operations
}

test('random histories of a register have no fault, and those with reads of the past have', () => {
  for (let seed = 1; seed <= 30; seed += 1) {
    assert.deepEqual(linearizabilityFaults(simulate(seed, false)), [], `seed ${seed}`)
    assert.equal(linearizabilityFaults(simulate(seed, true)).length, 1, `seed ${seed}`)
  }
})
