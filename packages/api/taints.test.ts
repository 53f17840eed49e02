import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Toleration } from './generated/types.ts'
import { toleratesTaint } from './taints.ts'

const taint = { key: 'dedicated', value: 'gpu', effect: 'NoExecute' }

const table: { toleration: Toleration; isTolerated: boolean }[] = [
  { toleration: { operator: 'Exists' }, isTolerated: true },
  { toleration: { key: 'dedicated', operator: 'Exists' }, isTolerated: true },
  { toleration: { key: 'dedicated', value: 'gpu' }, isTolerated: true },
  { toleration: { key: 'dedicated', value: 'cpu' }, isTolerated: false },
  { toleration: { key: 'other', operator: 'Exists' }, isTolerated: false },
  {
    toleration: { key: 'dedicated', operator: 'Exists', effect: 'NoSchedule' },
    isTolerated: false,
  },
  { toleration: { value: 'gpu' }, isTolerated: false },
]

for (const { toleration, isTolerated } of table) {
  test(`${JSON.stringify(toleration)} ${isTolerated ? 'tolerates' : 'does not tolerate'} the taint`, () => {
    assert.equal(toleratesTaint(toleration, taint), isTolerated)
  })
}
