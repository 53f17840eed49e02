import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EdgeCluster, StepStatus } from '../kind/edge-cluster.ts'
import { answerAsks } from './asks.ts'

const hostKey = `SHA256:${'a'.repeat(43)}`
const nextTime = '2026-01-01T00:00:00Z'
const steps: readonly StepStatus[] = [
  { name: 'Claim', state: 'Failed', attempt: 10, message: 'taken' },
  { name: 'Connect', machine: 'a', state: 'Done', attempt: 1 },
  { name: 'Connect', machine: 'b', state: 'Failed', attempt: 3, message: 'no' },
  { name: 'Join', machine: 'a', state: 'Waiting', attempt: 2, nextTime },
  { name: 'Join', machine: 'b', state: 'Waiting' },
  { name: 'Ready', machine: 'b', state: 'Skipped', message: 'a person has skipped it' },
]
const machines = [
  { address: 'a', role: 'Master' as const, unknownHostKey: hostKey },
  { address: 'b', role: 'Node' as const, unknownHostKey: hostKey },
]

function answer(asks: Readonly<Record<string, string>>): ReturnType<typeof answerAsks> {
  const annotations = Object.fromEntries(
    Object.entries(asks).map(([name, value]) => [`hub.skerry.io/${name}`, value]),
  )
  const edge: EdgeCluster = {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata: { name: 'edge', annotations },
    spec: { machines: [] },
  }
  return answerAsks(edge, { steps, machines })
}

const short = ({ state, attempt, nextTime: next }: StepStatus): string =>
  `${state} ${attempt ?? ''}${next === undefined ? '' : ' later'}`.trim()
const before = steps.map(short)

const cases: readonly [
  string,
  Readonly<Record<string, string>>,
  readonly (string | undefined)[],
][] = [
  ['nothing', {}, []],
  [
    'a retry of everything',
    { retry: '*' },
    ['Waiting 0', undefined, 'Waiting 0', 'Waiting 0', 'Waiting'],
  ],
  ['a retry of one step', { retry: 'Claim' }, ['Waiting 0']],
  [
    'a retry on one machine',
    { retry: 'Connect@b, Join@a' },
    [undefined, undefined, 'Waiting 0', 'Waiting 0'],
  ],
  ['a retry of what is done', { retry: 'Connect@a' }, []],
  [
    'a retry of what was skipped',
    { retry: 'Ready' },
    [undefined, undefined, undefined, undefined, undefined, 'Waiting 0'],
  ],
  ['a name that no step has', { retry: 'Nothing', skip: 'Nothing@a' }, []],
  ['a skip', { skip: 'Connect' }, [undefined, undefined, 'Skipped 3']],
  ['a skip of a step of the hub', { skip: 'Claim' }, []],
  ['a cancel', { cancel: '' }, [undefined, undefined, undefined, 'Cancelled 2', 'Cancelled']],
  [
    'a retry after a cancel',
    { cancel: '', retry: 'Join@b' },
    [undefined, undefined, undefined, 'Cancelled 2', 'Waiting 0'],
  ],
  ['a host key', { 'accept-host-keys': `b=${hostKey}` }, [undefined, undefined, 'Waiting 0']],
  ['a host key of nobody', { 'accept-host-keys': `=${hostKey}` }, []],
  ['a host key that is none', { 'accept-host-keys': 'b=anything' }, []],
]
for (const [what, asks, changed] of cases) {
  test(`${what} is carried out, and its annotation removed`, () => {
    const found = answer(asks)
    assert.deepEqual(
      found.steps.map(short),
      before.map((text, at) => changed[at] ?? text),
    )
    assert.deepEqual(
      found.done.toSorted(),
      Object.keys(asks)
        .map((name) => `hub.skerry.io/${name}`)
        .toSorted(),
    )
    assert.equal(found.isCancelled, 'cancel' in asks)
  })
}

test('an accepted host key is kept for its machine only', () => {
  const found = answer({ 'accept-host-keys': `b=${hostKey}` }).machines
  assert.deepEqual(found, [machines[0], { address: 'b', role: 'Node', hostKey }])
})

test('an accepted host key of a jump host is kept for it, and opens the machines behind it', () => {
  const annotations = { 'hub.skerry.io/accept-host-keys': `10.0.0.2:2222=${hostKey}` }
  const edge = { apiVersion: '', kind: '', metadata: { annotations }, spec: { machines: [] } }
  const jumps = [
    { address: '10.0.0.2', port: 22, unknownHostKey: hostKey },
    { address: '10.0.0.2', port: 2222, unknownHostKey: hostKey },
  ]
  const jumpOf = (address: string): string | undefined =>
    address === 'b' ? '10.0.0.2:2222' : undefined
  const found = answerAsks(edge, { steps, machines, jumps, jumpOf })
  assert.deepEqual(found.jumps, [jumps[0], { address: '10.0.0.2', port: 2222, hostKey }])
  const changed = found.steps.map(short).filter((text, at) => text !== before[at])
  assert.deepEqual(changed, ['Waiting 0'])
})
