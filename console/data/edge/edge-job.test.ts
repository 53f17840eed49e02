import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jobCommand, jobPatch, jobRows, type EdgeJobObject, type JobWish } from './edge-job.ts'

const job: EdgeJobObject = {
  metadata: {
    name: 'spring',
    namespace: 'shops',
    annotations: { 'hub.skerry.io/confirm': 'branch-7' },
  },
  spec: { upgrade: { version: '0.2.0' } },
}

test('machines that failed or wait for a person come first, and a cluster without machines is a line', () => {
  const machine = (address: string, phase: 'Done' | 'Failed' | 'WaitingForConfirmation') => ({
    address,
    role: 'Node',
    phase,
  })
  const rows = jobRows([
    { metadata: { name: 'spring.a' }, spec: { edgeCluster: 'a' }, status: { phase: 'Pending' } },
    {
      metadata: { name: 'spring.b' },
      spec: { edgeCluster: 'b' },
      status: {
        machines: [
          machine('1', 'Done'),
          machine('2', 'WaitingForConfirmation'),
          machine('3', 'Failed'),
        ],
      },
    },
  ])
  assert.deepEqual(
    rows.map(({ cluster, address, phase }) => [cluster, address, phase]),
    [
      ['b', '3', 'Failed'],
      ['b', '2', 'WaitingForConfirmation'],
      ['a', '', 'Pending'],
      ['b', '1', 'Done'],
    ],
  )
})

test('wishes are the annotations that the hub reads, and the commands that ask for the same', () => {
  const annotations = (key: string, value: string) => ({
    metadata: { annotations: { [`hub.skerry.io/${key}`]: value } },
  })
  const table: readonly (readonly [JobWish, unknown, string])[] = [
    [
      { ask: 'confirm', target: 'branch-8/10.0.0.2' },
      annotations('confirm', 'branch-7,branch-8/10.0.0.2'),
      'confirm spring branch-8/10.0.0.2',
    ],
    [{ ask: 'retry', target: '*' }, annotations('retry', '*'), 'retry spring'],
    [{ ask: 'cancel' }, annotations('cancel', '*'), 'cancel spring'],
    [{ ask: 'pause' }, { spec: { paused: true } }, 'pause spring'],
    [
      { ask: 'resume' },
      { spec: { paused: false }, metadata: { annotations: { 'hub.skerry.io/pause': null } } },
      'resume spring',
    ],
  ]
  for (const [wish, patch, command] of table) {
    assert.deepEqual(jobPatch(job, wish), patch)
    assert.equal(jobCommand(job, wish), `skerry edge-job ${command} --namespace shops`)
  }
})
