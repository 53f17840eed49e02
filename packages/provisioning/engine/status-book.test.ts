import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EdgeCluster, EdgeClusterStatus, StepStatus } from '../kind/edge-cluster.ts'
import { StatusBook, phaseAtRest } from './status-book.ts'

const edge: EdgeCluster = {
  apiVersion: 'hub.skerry.io/v1alpha1',
  kind: 'EdgeCluster',
  metadata: { name: 'edge' },
  spec: { machines: [] },
}

function bookOf(
  steps: readonly StepStatus[],
  write: (status: EdgeClusterStatus) => Promise<void>,
): StatusBook {
  const base = { observedGeneration: 1, clusterName: 'edge', nodesMax: 256 }
  return new StatusBook(edge, { base, steps, machines: [], now: () => 0, write })
}

const step = (state: StepStatus['state'], more: Partial<StepStatus> = {}): StepStatus => ({
  name: 'Connect',
  machine: 'a',
  state,
  ...more,
})
const unknown = [{ address: 'a', role: 'Master' as const, unknownHostKey: 'SHA256:x' }]

const phases: readonly [string, Parameters<typeof phaseAtRest>[0], boolean, string][] = [
  ['everything is done', { steps: [step('Done'), step('Skipped')], machines: [] }, false, 'Ready'],
  ['everything is done, and it is paused', { steps: [step('Done')], machines: [] }, true, 'Ready'],
  ['it is paused', { steps: [step('Waiting')], machines: [] }, true, 'Paused'],
  ['a host key is unknown', { steps: [step('Failed')], machines: unknown }, false, 'Waiting'],
  ['a step failed', { steps: [step('Failed'), step('Cancelled')], machines: [] }, false, 'Failed'],
  ['a step was cancelled', { steps: [step('Cancelled')], machines: [] }, false, 'Cancelled'],
  ['a step waits', { steps: [step('Done'), step('Waiting')], machines: [] }, false, 'Running'],
]
for (const [what, book, isPaused, phase] of phases) {
  test(`if ${what}, the phase is ${phase}`, () => {
    assert.equal(phaseAtRest(book, { isPaused }), phase)
  })
}

const conditions: readonly [readonly StepStatus[], string, string, string][] = [
  [[step('Done', { message: 'in' })], 'True', 'Done', 'a: in'],
  [[step('Done'), step('Failed', { machine: 'b', message: 'no' })], 'False', 'Failed', 'b: no'],
  [[step('Done'), step('Running', { machine: 'b' })], 'Unknown', 'Running', ''],
  [[step('Waiting', { message: 'slow', nextTime: 'x' })], 'Unknown', 'Waiting', 'a: slow'],
  [[step('Skipped')], 'True', 'Skipped', ''],
]
for (const [steps, status, reason, message] of conditions) {
  test(`steps that are ${steps.map(({ state }) => state).join(' and ')} make a condition ${status}`, async () => {
    let written: EdgeClusterStatus = {}
    await bookOf(steps, async (next) => void (written = next)).save('Running')
    const found = written.conditions?.find(({ type }) => type === 'Connect')
    assert.deepEqual([found?.status, found?.reason, found?.message], [status, reason, message])
    const ready = written.conditions?.find(({ type }) => type === 'Ready')
    assert.deepEqual([ready?.status, ready?.reason], ['False', 'Running'])
  })
}

test('writes take turns, and those that wait share the last one', async () => {
  const gates: (() => void)[] = []
  const states: string[] = []
  const book = bookOf([step('Waiting')], async (status) => {
    states.push(`${status.phase} ${status.steps?.[0]?.state}`)
    await new Promise<void>((resolve) => gates.push(resolve))
  })
  const first = book.save('Pending')
  await new Promise(setImmediate)
  book.setStep(step('Running'))
  const second = book.save('Running')
  book.setStep(step('Done'))
  const third = book.save('Ready')
  gates[0]?.()
  await first
  await new Promise(setImmediate)
  gates[1]?.()
  await Promise.all([second, third])
  assert.deepEqual(states, ['Pending Waiting', 'Ready Done'])
})

test('a write that fails does not keep the next one from being done', async () => {
  let count = 0
  const book = bookOf([step('Waiting')], async () => {
    if ((count += 1) === 1) throw new Error('the hub is away')
  })
  await assert.rejects(book.save('Running'), /away/)
  await book.save('Running')
  assert.equal(count, 2)
})

test('the status of a thousand machines fits into an object, and names the failed step', async () => {
  const names = [
    'Connect',
    'Preflight',
    'CopyFiles',
    'BeforeInstall',
    'InstallProgram',
    'PrepareMachine',
    'JoinNode',
    'NodeReady',
    'AfterInstall',
  ]
  const time = '2026-01-01T00:00:00Z'
  const steps = Array.from({ length: 1_000 }, (_, at) =>
    names.map((name, place): StepStatus => ({
      name,
      machine: `10.200.${100 + (at >> 8)}.${at & 255}`,
      state: place === 8 ? 'Failed' : 'Done',
      attempt: 10,
      startTime: time,
      finishTime: time,
      message: 'm'.repeat(1_000),
      output: 'o'.repeat(2_000),
    })),
  ).flat()
  let written: EdgeClusterStatus = {}
  await bookOf(steps, async (next) => void (written = next)).save('Failed')
  assert.ok(JSON.stringify(written).length <= 1_000_000, String(JSON.stringify(written).length))
  assert.equal(written.steps?.length, 9_000)
  assert.equal(written.steps?.[8]?.state, 'Failed')
})

test('a status with room keeps everything of its steps', async () => {
  const full = step('Done', { message: 'in', output: 'o'.repeat(2_000), startTime: 'x' })
  let written: EdgeClusterStatus = {}
  await bookOf([full], async (next) => void (written = next)).save('Ready')
  assert.deepEqual(written.steps, [full])
})
