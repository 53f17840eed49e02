import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CSINodeDriver } from '@skerry/api'
import { planCsiNode, type ReportedDriver } from './csi-node-plan.ts'

function shown(name: string, nodeID = 'n1', count?: number): CSINodeDriver {
  return { name, nodeID, topologyKeys: null, ...(count ? { allocatable: { count } } : {}) }
}

function registered(name: string, nodeId = 'n1', volumesMax = 0): ReportedDriver {
  return { name, nodeId, volumesMax, topology: {} }
}

for (const { what, before, now, forgotten = [], writes } of [
  { what: 'nothing to say', before: [], now: [], writes: [] },
  {
    what: 'a first driver',
    before: [],
    now: [registered('a', 'n1', 4)],
    writes: [[shown('a', 'n1', 4)]],
  },
  { what: 'the same driver', before: [shown('a')], now: [registered('a')], writes: [] },
  {
    what: 'another limit, which may change in place',
    before: [shown('a', 'n1', 4)],
    now: [registered('a', 'n1', 9)],
    writes: [[shown('a', 'n1', 9)]],
  },
  {
    what: 'another node id, which may not',
    before: [shown('a'), shown('b')],
    now: [registered('a', 'n2'), registered('b')],
    writes: [[shown('b')], [shown('a', 'n2'), shown('b')]],
  },
  {
    what: 'a driver that may still come back',
    before: [shown('a'), shown('b')],
    now: [registered('b')],
    writes: [],
  },
  {
    what: 'a driver that has left',
    before: [shown('a'), shown('b')],
    now: [registered('b')],
    forgotten: ['a'],
    writes: [[shown('b')]],
  },
]) {
  test(`the CSINode's drivers are written for ${what}`, () => {
    const plan = planCsiNode({
      shown: before,
      registered: now,
      isForgotten: (name) => forgotten.includes(name),
    })
    assert.deepEqual(plan, writes)
  })
}
