import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LeaderAct, LeaseRecord } from './history.ts'
import { leaderFaults } from './leader-terms.ts'

const bounds = { leaseMs: 15_000, toleranceMs: 1_000 }
const lease = (revision: number, holder: string, seenMs: number): LeaseRecord => ({
  revision,
  holder,
  seenMs,
})
const act = (revision: number, holder: string): LeaderAct => ({ revision, holder, what: 'create' })

const terms = [
  lease(10, 'a', 0),
  lease(20, 'a', 2_000),
  lease(30, 'b', 17_500),
  lease(40, '', 18_000),
  lease(50, 'c', 18_200),
]

test('leaders that follow each other and act in their terms have no fault', () => {
  const acts = [act(11, 'a'), act(29, 'a'), act(31, 'b'), act(55, 'c')]
  assert.deepEqual(leaderFaults(terms, acts, bounds), [])
})

test('acts before the record begins are nobody’s fault', () => {
  assert.deepEqual(leaderFaults(terms, [act(3, 'z')], bounds), [])
})

const faulty: readonly (readonly [title: string, act: LeaderAct, fault: string])[] = [
  ['a former leader acts after another has begun', act(31, 'a'), 'a did create at 31, when b led'],
  [
    'a leader acts after it has given the lease back',
    act(45, 'b'),
    'b did create at 45, when nobody led',
  ],
  ['somebody acts who never led', act(25, 'd'), 'd did create at 25, when a led'],
]

for (const [title, each, fault] of faulty) {
  test(`a fault of leaders: ${title}`, () => {
    assert.deepEqual(leaderFaults(terms, [each], bounds), [fault])
  })
}

test('a fault of leaders: a lease is taken before it has run out', () => {
  const stolen = [lease(10, 'a', 0), lease(20, 'b', 4_000)]
  assert.deepEqual(leaderFaults(stolen, [], bounds), [
    'b took the lease of a at 20, 4000 ms after its last renewal',
  ])
})
