import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EdgeCluster, StepStatus } from '@skerry/provisioning'
import { describeLines, edgeClusterLines, plainLines, screenLines } from './edge-cluster-text.ts'
import { endOf } from './edge-cluster-end.ts'
import { printerOf, type WatchOutput } from './edge-cluster-watch.ts'

const startTime = '2026-11-23T10:00:00Z'
const nowMs = Date.parse('2026-11-23T10:00:12Z')
const fingerprint = `SHA256:${'k'.repeat(43)}`

const done: StepStatus = {
  name: 'Connect',
  machine: '10.0.0.11',
  state: 'Done',
  attempt: 1,
  startTime,
  finishTime: '2026-11-23T10:00:02Z',
  message: 'root on 10.0.0.11',
}
const running: StepStatus = {
  name: 'Preflight',
  machine: '10.0.0.11',
  state: 'Running',
  attempt: 1,
  startTime: '2026-11-23T10:00:02Z',
}
const again: StepStatus = {
  name: 'Connect',
  machine: '10.0.0.12',
  state: 'Waiting',
  attempt: 2,
  startTime,
  finishTime: '2026-11-23T10:00:05Z',
  nextTime: '2026-11-23T10:00:20Z',
  message: 'nothing \u001B[2Janswers',
}
const fresh: StepStatus = { name: 'Preflight', machine: '10.0.0.12', state: 'Waiting' }

function edgeWith(status: EdgeCluster['status'], annotations: Record<string, string> = {}) {
  const machines = [{ addresses: ['10.0.0.[11-12]'], credentials: { name: 'ssh' } }]
  const metadata = { name: 'branch-7', namespace: 'shops', generation: 1, annotations }
  return {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata,
    spec: { machines },
    status: { observedGeneration: 1, ...status },
  } satisfies EdgeCluster
}

const size24 = { columns: 80, rows: 24 }

/** Collects what a watch writes; with a size it is a terminal. */
function outputOf(size?: { columns: number; rows: number }): WatchOutput & { text: () => string } {
  let text = ''
  return { write: (more) => (text += more), size: () => size, text: () => text }
}

test('a watch that is not a terminal prints a line for each change, and nothing twice', () => {
  const to = outputOf()
  const show = printerOf(undefined, to)
  const first = edgeWith({ phase: 'Running', steps: [done, running, again, fresh] })
  show(first, nowMs)
  show(first, nowMs + 1_000)
  const passed: StepStatus = { ...running, state: 'Done', finishTime: '2026-11-23T10:00:14Z' }
  show(edgeWith({ phase: 'Running', steps: [done, passed, again, fresh] }), nowMs + 2_000)
  assert.deepEqual(to.text().trimEnd().split('\n'), [
    'Connect@10.0.0.11: Done, 2s: root on 10.0.0.11',
    'Preflight@10.0.0.11: Running, 10s',
    'Connect@10.0.0.12: Waiting, attempt 2, 5s: again in 8s: nothing  [2Janswers',
    'branch-7: Running',
    'Preflight@10.0.0.11: Done, 12s',
  ])
})

test('a watch says how to accept a host key when the cluster waits for that', () => {
  const to = outputOf()
  const machines = [{ address: '10.0.0.11', role: 'Master' as const, unknownHostKey: fingerprint }]
  printerOf(undefined, to)(edgeWith({ phase: 'Waiting', machines }), nowMs)
  const command = `skerry edge-cluster accept-host-key branch-7 10.0.0.11=${fingerprint} --namespace shops`
  assert.ok(to.text().includes(command), to.text())
})

test('a watch in a terminal draws its list again in the same place', () => {
  const to = outputOf({ columns: 60, rows: 20 })
  const show = printerOf(undefined, to)
  const edge = edgeWith({ phase: 'Running', steps: [done, running, again] })
  show(edge, nowMs)
  const before = to.text()
  assert.equal(
    before,
    `branch-7: Running, 1/3 steps finished
STEP        MACHINE     STATE     ATTEMPT   DURATION   MES…
Connect     10.0.0.11   Done      1         2s         roo…
Preflight   10.0.0.11   Running   1         10s
Connect     10.0.0.12   Waiting   2         5s         aga…
`,
  )
  show(edge, nowMs + 1_000)
  const drawnAgain = to.text().slice(before.length)
  assert.ok(drawnAgain.startsWith('\u001B[5F\u001B[J'), JSON.stringify(drawnAgain))
  assert.match(drawnAgain, /Preflight.*11s\n/)
})

test('a list that is longer than the screen fills it: those that run, the next, and the last that were finished', () => {
  const many = Array.from({ length: 40 }, (_, at) => ({ ...done, machine: `10.0.1.${at}` }))
  const steps = [...many, running, again, fresh]
  const lines = screenLines(edgeWith({ steps }), nowMs, { columns: 100, rows: 8 })
  assert.deepEqual(
    lines.map((line) => line.split('   ')[0]),
    [
      'branch-7: Pending, 40/43 steps finished',
      'STEP',
      'Connect',
      'Preflight',
      'Connect',
      'Preflight',
      '… and 39 more steps',
    ],
  )
  const fewer = screenLines(edgeWith({ steps }), nowMs, { columns: 100, rows: 6 })
  assert.deepEqual(
    fewer.slice(2).map((line) => line.split('   ')[0]),
    ['Preflight', 'Connect', '… and 41 more steps'],
  )
  const later = { ...done, name: 'NodeReady', finishTime: '2026-11-23T10:00:09Z' }
  const ended = screenLines(edgeWith({ steps: [later, ...many] }), nowMs, { columns: 100, rows: 6 })
  assert.deepEqual(
    ended.slice(2).map((line) => line.split('   ')[0]),
    ['NodeReady', 'Connect', '… and 39 more steps'],
  )
  const unbegun = Array.from({ length: 30 }, (_, at) => ({ ...fresh, machine: `10.0.1.${at}` }))
  const begun = screenLines(edgeWith({ steps: unbegun }), nowMs, size24)
  assert.equal(begun.length, 23)
})

test('a list in a terminal that has become narrower is drawn over the rows that it takes there', () => {
  let size = { columns: 100, rows: 24 }
  const to = { ...outputOf(size), size: () => size }
  const show = printerOf(undefined, to)
  const wide = { ...again, message: '机器没有应答'.repeat(10) }
  show(edgeWith({ phase: 'Running', steps: [wide] }), nowMs)
  const [head = '', ...rest] = to.text().trimEnd().split('\n')
  assert.equal(rest.length, 2)
  size = { columns: 40, rows: 24 }
  const before = to.text().length
  show(edgeWith({ phase: 'Running', steps: [wide] }), nowMs)
  // The head takes one row; the table's head two, and its line of 98 columns three.
  assert.ok(head.length < 40)
  assert.ok(to.text().slice(before).startsWith('\u001B[6F\u001B[J'), to.text().slice(before))
})

test('with -o json a watch prints each state once, as an object', () => {
  const to = outputOf()
  const show = printerOf('json', to)
  const edge = edgeWith({ phase: 'Running', steps: [running] })
  show(edge, nowMs)
  show(edge, nowMs + 1_000)
  const [line = '', rest] = to.text().split('\n')
  assert.deepEqual(JSON.parse(line).steps, [running])
  assert.equal(rest, '')
})

const failed: StepStatus = { ...done, state: 'Failed' }
const ends: readonly (readonly [name: string, edge: EdgeCluster, end: string | undefined])[] = [
  ['Ready', edgeWith({ phase: 'Ready', steps: [done] }), 'Ready'],
  ['Failed', edgeWith({ phase: 'Failed', steps: [failed, fresh] }), 'Failed'],
  ['Cancelled', edgeWith({ phase: 'Cancelled', steps: [] }), 'Cancelled'],
  [
    'Failed while a step is to be tried again',
    edgeWith({ phase: 'Failed', steps: [failed, again] }),
    undefined,
  ],
  [
    'Ready before a change was seen',
    edgeWith({ phase: 'Ready', observedGeneration: 0 }),
    undefined,
  ],
  [
    'Failed before a retry',
    edgeWith({ phase: 'Failed' }, { 'hub.skerry.io/retry': '*' }),
    undefined,
  ],
  ['Waiting', edgeWith({ phase: 'Waiting' }), undefined],
  ['Paused', edgeWith({ phase: 'Paused' }), undefined],
]

for (const [name, edge, end] of ends) {
  test(`a watch ${end === undefined ? 'goes on at' : 'ends at'} ${name}`, () => {
    assert.equal(endOf(edge), end)
  })
}

test('a cluster that is Ready to go is not Ready', () => {
  const edge = edgeWith({ phase: 'Ready', steps: [done] })
  const metadata = { ...edge.metadata, deletionTimestamp: startTime }
  assert.equal(endOf({ ...edge, metadata }), undefined)
})

test('the output of a machine does not steer the terminal of its reader', () => {
  const hostile = '\u001B]0;title\u0007\u001B[2J\u009B1mred\r\nrest'
  const steps: StepStatus[] = [{ ...done, state: 'Failed', message: hostile }]
  const machines = [{ address: '10.0.0.11', role: 'Master' as const, unknownHostKey: hostile }]
  const edge = edgeWith({ phase: 'Waiting', steps, machines })
  const to = outputOf()
  printerOf(undefined, to)(edge, nowMs)
  const texts = [
    to.text(),
    screenLines(edge, nowMs, { columns: 80, rows: 24 }).join('\n'),
    describeLines(edge, nowMs).join('\n'),
    edgeClusterLines([edge], { nowMs, hasNamespaces: true }).join('\n'),
    plainLines(hostile),
  ]
  for (const text of texts) assert.doesNotMatch(text, /[^\P{Cc}\n\t]/u)
  assert.match(plainLines(hostile), /red\nrest$/)
})

test('the programs of machines are counted by version', () => {
  const programs = { '10.0.0.11': '0.2.0-a', '10.0.0.12': '0.1.0-b', '10.0.0.13': '0.2.0-a' }
  const edge = edgeWith({ phase: 'Ready', programs })
  assert.match(describeLines(edge, nowMs).join('\n'), /Programs: +0\.2\.0-a on 2, 0\.1\.0-b on 1/)
})
