import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StepStatus } from '../kind/edge-cluster.ts'
import { machinesOf } from '../kind/machine-addresses.ts'
import type { Step } from '../contract/step.ts'
import { instancesOf, nextAttemptMs, readySteps, statusesOf } from './plan-steps.ts'

const credentials = { name: 'ssh' }
const machines = machinesOf({
  machines: [
    { addresses: ['m'], credentials, role: 'Master' },
    { addresses: ['a', 'b'], credentials },
  ],
})
const act = async (): Promise<string> => ''
const text = { does: 'work', needs: [], act }
const steps: readonly Step[] = [
  { ...text, name: 'Claim', place: 'hub' },
  { ...text, name: 'Connect', place: 'machines' },
  { ...text, name: 'Start', place: 'master' },
  { ...text, name: 'Join', place: 'machines' },
]
const all = instancesOf(steps, machines, [])

test('each step has an instance on each of its machines, in the order of the table', () => {
  assert.deepEqual(
    all.map((each) => each.text),
    ['Claim', 'Connect@m', 'Connect@a', 'Connect@b', 'Start@m', 'Join@m', 'Join@a', 'Join@b'],
  )
})

test('a machine that does not need a step has no instance of it', () => {
  const clean: Step = {
    ...text,
    name: 'Clean',
    place: 'machines',
    appliesTo: ({ isChanged }) => isChanged === true,
  }
  const known = machines.map(({ address, role }) => ({ address, role, isChanged: address === 'a' }))
  assert.deepEqual(
    instancesOf([clean], machines, known).map((each) => each.text),
    ['Clean@a'],
  )
})

/** Returns statuses from words such as `Connect@m Done`; the rest waits. */
function statuses(
  words: Readonly<Record<string, StepStatus['state'] | Partial<StepStatus>>>,
): StepStatus[] {
  return statusesOf(all, [], {}).map((status) => {
    const found =
      words[status.machine === undefined ? status.name : `${status.name}@${status.machine}`]
    return { ...status, ...(typeof found === 'string' ? { state: found } : found) }
  })
}

const nowMs = Date.parse('2026-01-01T00:00:00Z')
const later = { nextTime: '2026-01-01T00:00:01Z' }
const everywhere = { 'Connect@m': 'Done', 'Connect@a': 'Done', 'Connect@b': 'Done' } as const
const ready: readonly [string, Parameters<typeof statuses>[0], readonly string[]][] = [
  ['nothing is done', {}, ['Claim']],
  ['the name is claimed', { Claim: 'Done' }, ['Connect@m']],
  ['the name was skipped', { Claim: 'Skipped' }, ['Connect@m']],
  ['a hub was killed in a step', { Claim: 'Running' }, ['Claim']],
  [
    'the master is open',
    { Claim: 'Done', 'Connect@m': 'Done' },
    ['Connect@a', 'Connect@b', 'Start@m'],
  ],
  ['a node failed', { Claim: 'Done', ...everywhere, 'Connect@a': 'Failed' }, ['Start@m']],
  [
    'a node failed, and the site runs',
    { Claim: 'Done', ...everywhere, 'Connect@a': 'Failed', 'Start@m': 'Done' },
    ['Join@m'],
  ],
  ['the master failed', { Claim: 'Done', 'Connect@m': 'Failed' }, []],
  ['the master waits for its next attempt', { Claim: later }, []],
  ['the next attempt is due', { Claim: { nextTime: '2026-01-01T00:00:00Z' } }, ['Claim']],
  [
    'the clock was a year ahead when the next attempt was planned',
    { Claim: { nextTime: '2027-01-01T00:00:00Z' } },
    ['Claim'],
  ],
  ['it was cancelled', { Claim: 'Cancelled' }, []],
]
for (const [what, words, expected] of ready) {
  test(`if ${what}, ${expected.join(' and ') || 'nothing'} may begin`, () => {
    const found = readySteps(all, statuses(words), nowMs)
    assert.deepEqual(
      found.map((each) => each.text),
      expected,
    )
  })
}

test('the next attempt is the earliest of those that wait', () => {
  const other = { nextTime: '2026-01-01T00:00:09Z' }
  const found = nextAttemptMs(
    statuses({ 'Connect@a': other, 'Connect@b': later, Claim: { state: 'Failed', ...later } }),
  )
  assert.equal(found, nowMs + 1_000)
  assert.equal(nextAttemptMs(statuses({})), undefined)
})

test('the spec skips a step everywhere or on one machine, but none of the hub and none that is done', () => {
  const skipSteps = ['Claim', 'Connect@a', 'Join']
  const known: StepStatus[] = [{ name: 'Join', machine: 'b', state: 'Done' }]
  const skipped = statusesOf(all, known, { skipSteps }).filter(({ state }) => state === 'Skipped')
  assert.deepEqual(
    skipped.map(({ name, machine }) => `${name}@${machine}`),
    ['Connect@a', 'Join@m', 'Join@a'],
  )
})

test('the status of a step that is not planned any more is left out', () => {
  const known: StepStatus[] = [
    { name: 'Gone', state: 'Failed' },
    { name: 'Claim', state: 'Done' },
  ]
  const found = statusesOf(all, known, {})
  assert.deepEqual([found.length, found[0]?.state], [all.length, 'Done'])
})
