import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject } from '@skerry/api'
import { isRelaxedChange } from './relaxed-changes-table.ts'

const lease = (resourceVersion: string, spec: object, more: object = {}): AnyObject => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'node-a', resourceVersion, ...more },
  spec,
})
const held = { holderIdentity: 'node-a', leaseDurationSeconds: 40, renewTime: '10:00' }
const node = (heartbeat: string, ready: string): AnyObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'a', resourceVersion: heartbeat },
  status: { conditions: [{ type: 'Ready', status: ready, lastHeartbeatTime: heartbeat }] },
})
const leases = 'coordination.k8s.io/leases'

const cases: readonly {
  what: string
  storage: string
  next: AnyObject
  old?: AnyObject
  isRelaxed: boolean
}[] = [
  {
    what: 'a renewal',
    storage: leases,
    next: lease('2', { ...held, renewTime: '10:10' }),
    old: lease('1', held),
    isRelaxed: true,
  },
  {
    what: 'another holder',
    storage: leases,
    next: lease('2', { ...held, holderIdentity: 'b' }),
    old: lease('1', held),
    isRelaxed: false,
  },
  {
    what: 'a label of a lease',
    storage: leases,
    next: lease('2', held, { labels: { a: 'b' } }),
    old: lease('1', held),
    isRelaxed: false,
  },
  { what: 'a new lease', storage: leases, next: lease('', held), isRelaxed: false },
  {
    what: 'the deletion of a lease',
    storage: leases,
    next: lease('2', held, { deletionTimestamp: '10:10' }),
    old: lease('1', held),
    isRelaxed: false,
  },
  { what: 'an event', storage: 'core/events', next: lease('', {}), isRelaxed: true },
  {
    what: 'a heartbeat of a node',
    storage: 'core/nodes',
    next: node('2', 'True'),
    old: node('1', 'True'),
    isRelaxed: true,
  },
  {
    what: 'a condition of a node',
    storage: 'core/nodes',
    next: node('2', 'False'),
    old: node('1', 'True'),
    isRelaxed: false,
  },
  { what: 'a Secret', storage: 'core/secrets', next: lease('', {}), isRelaxed: false },
]

for (const { what, storage, next, old, isRelaxed } of cases) {
  test(`${what} is ${isRelaxed ? 'relaxed' : 'durable'}`, () => {
    assert.equal(isRelaxedChange(storage, next, old), isRelaxed)
  })
}
