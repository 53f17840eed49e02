import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  leadingStep,
  maySkip,
  shownKeys,
  stepMs,
  stepsDone,
  wishPatch,
  type EdgeStep,
} from './edge-cluster.ts'

const steps: readonly EdgeStep[] = [
  { name: 'Preflight', machine: '10.0.0.11', state: 'Done' },
  { name: 'Hooks', machine: '10.0.0.11', state: 'Skipped' },
  { name: 'Containerd', machine: '10.0.0.11', state: 'Running', startTime: '2026-01-01T00:00:00Z' },
  { name: 'Import', state: 'Waiting' },
]

test('wishes of a person are the annotations that the hub reads', () => {
  const annotations = (name: string, value: string) => ({
    metadata: { annotations: { [`hub.skerry.io/${name}`]: value } },
  })
  const [step] = steps
  assert.ok(step)
  const table: readonly (readonly [Parameters<typeof wishPatch>[0], unknown])[] = [
    [{ ask: 'retry', step }, annotations('retry', 'Preflight@10.0.0.11')],
    [{ ask: 'retry', step: 'all' }, annotations('retry', '*')],
    [{ ask: 'skip', step: { name: 'Import', state: 'Failed' } }, annotations('skip', 'Import')],
    [{ ask: 'cancel' }, annotations('cancel', 'true')],
    [
      {
        ask: 'accept-host-keys',
        machine: { address: '10.0.0.11', unknownHostKey: 'SHA256:x' },
      },
      annotations('accept-host-keys', '10.0.0.11=SHA256:x'),
    ],
    [{ ask: 'pause' }, { spec: { paused: true } }],
    [
      { ask: 'resume' },
      { spec: { paused: false }, metadata: { annotations: { 'hub.skerry.io/pause': null } } },
    ],
  ]
  for (const [wish, patch] of table) assert.deepEqual(wishPatch(wish), patch)
})

test('a failed step is looked at before one that runs, and that before one that waits', () => {
  assert.equal(leadingStep(steps)?.name, 'Containerd')
  assert.equal(leadingStep([...steps, { name: 'X', state: 'Failed' }])?.name, 'X')
  assert.equal(leadingStep(steps.slice(0, 2))?.name, 'Hooks')
  assert.equal(leadingStep([]), undefined)
  assert.deepEqual(stepsDone(steps), { done: 2, total: 4 })
})

test('the time of a running step counts on', () => {
  const [done, , running] = steps
  assert.ok(done && running)
  assert.equal(stepMs(running, Date.parse('2026-01-01T00:00:09Z')), 9_000)
  assert.equal(stepMs(done, 0), undefined)
})

test('the keys of jump hosts are compared before those of the machines behind them', () => {
  const edge = {
    metadata: { name: 'a', namespace: 'default' },
    spec: {},
    status: {
      machines: [
        { address: '10.0.0.11', role: 'Node' as const, unknownHostKey: 'SHA256:m' },
        { address: '10.0.0.12', role: 'Node' as const, hostKey: 'SHA256:n' },
      ],
      jumps: [{ address: 'gate', port: 2222, unknownHostKey: 'SHA256:j' }],
    },
  }
  assert.deepEqual(shownKeys(edge), [
    { address: 'gate:2222', unknownHostKey: 'SHA256:j' },
    { address: '10.0.0.11', unknownHostKey: 'SHA256:m' },
  ])
})

test('steps on machines may be skipped, and of the hub the one that asks an imported cluster', () => {
  assert.equal(maySkip({ name: 'Connect', machine: '10.0.0.11' }), true)
  assert.equal(maySkip({ name: 'RemoveAgent' }), true)
  assert.equal(maySkip({ name: 'ClaimName' }), false)
})
