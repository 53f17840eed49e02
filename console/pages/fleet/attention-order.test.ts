import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FleetRow } from '../../data/fleet/fleet.ts'
import { attentionOrder } from './attention-order.ts'

test('the worst trouble comes first, and of equal troubles the newest', () => {
  const rows: readonly FleetRow[] = [
    { n: 'degraded', s: 'degraded', t: 900 },
    { n: 'away-old', s: 'away', t: 100 },
    { n: 'away-2', s: 'away', t: 500 },
    { n: 'away-10', s: 'away', t: 500 },
    { n: 'failed', s: 'failed', t: 1 },
  ]
  assert.deepEqual(
    rows.toSorted(attentionOrder).map(({ n }) => n),
    ['failed', 'away-2', 'away-10', 'away-old', 'degraded'],
  )
})
