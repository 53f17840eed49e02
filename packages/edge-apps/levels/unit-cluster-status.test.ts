import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '@skerry/api'
import { statusOfProgress, type Progress } from './unit-cluster-status.ts'

const member = (name: string, cpu: string): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name },
  status: { capacity: { cpu }, allocatable: { cpu } },
})
const members = [member('n1', '2'), member('n2', '4')]
const resource = { capacity: { cpu: '6' }, allocatable: { cpu: '6' } }
const serving = { version: 'v1.36.3+skerry-1.0.0', server: 'https://10.0.0.2:6443' }
const released = { generation: 5, phase: 'released' } as const
const recalled = { generation: 6, phase: 'recalled' } as const
const open = { generation: 5, phase: 'open' } as const
const place = {
  version: '1.36.3+skerry-1.0.0',
  addresses: [{ type: 'Advertise', host: '10.0.0.2', port: 6443, path: '' }],
}
const running = statusOfProgress({
  last: undefined,
  members,
  record: released,
  heard: open,
  masters: [{ node: 'n1', serves: serving }],
})

test('a unit that acts has its version, its address and the sum of its nodes in its status', () => {
  const message = 'its own control plane acts'
  assert.deepEqual(running, {
    ...place,
    phase: 'Running',
    conditions: [{ type: 'Init', status: 'True', reason: 'Released', message }],
    resource,
  })
})

const table: readonly [
  title: string,
  progress: Omit<Progress, 'members' | 'masters'> & Partial<Pick<Progress, 'masters'>>,
  phase: string,
  reason: string,
  message: RegExp,
][] = [
  [
    'is being packed',
    { last: undefined, record: { generation: 5, phase: 'fenced' } },
    'Initializing',
    'Fenced',
    /^waits until its objects are packed$/,
  ],
  [
    'is open and does not serve yet',
    { last: undefined, record: released, heard: open },
    'Initializing',
    'Released',
    /until its own control plane serves$/,
  ],
  [
    'has one server that serves and two that begin',
    {
      last: running,
      record: released,
      heard: open,
      masters: [
        { node: 'n1', serves: serving },
        { node: 'n2', trouble: 'port 2380 is taken' },
        { node: 'n3' },
      ],
    },
    'Running',
    'Released',
    /^its own control plane acts; 1 of its 3 servers serve, not n2, n3; n2 says: port 2380 is taken$/,
  ],
  [
    'has too few nodes for three servers',
    {
      last: running,
      record: released,
      heard: open,
      masters: [{ node: 'n1', serves: serving }],
      shortage: 'Insufficient Ready Node: 2 of 2 nodes ready, 3 needed for its control plane',
    },
    'Running',
    'Released',
    /^its own control plane acts; Insufficient Ready Node: 2 of 2/,
  ],
  [
    'was cut off after it began',
    { last: running, record: released },
    'Running',
    'NotHeard',
    /acts, and its server has not asked lately/,
  ],
  [
    'has not stopped',
    { last: running, record: recalled, heard: open, waitsFor: 'its own control plane has stopped' },
    'Terminating',
    'Recalled',
    /^waits until its own control plane has stopped; if its server is destroyed, annotate the unit with edge.skerry.io\/lost-generation=6/,
  ],
  [
    'has something that cannot come',
    { last: running, record: recalled, refusal: 'core/services/shop/till was made there' },
    'Terminating',
    'NotTaken',
    /till was made there/,
  ],
]

for (const [title, progress, phase, reason, message] of table) {
  test(`the status of a unit that ${title}`, () => {
    const status = statusOfProgress({ masters: [{ node: 'n1' }], ...progress, members })
    const [condition] = status?.conditions ?? []
    assert.deepEqual([status?.phase, condition?.reason], [phase, reason])
    assert.match(condition?.message ?? '', message)
    assert.deepEqual(status?.addresses, phase === 'Running' ? place.addresses : undefined)
  })
}

test('a unit that its parent has is not a cluster', () => {
  const record = { generation: 6, phase: 'own' } as const
  assert.equal(statusOfProgress({ last: running, members, record, masters: [] }), undefined)
})
