import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planBudget } from './budget-plan.ts'

const table: {
  spec: { minAvailable?: number | string; maxUnavailable?: number | string }
  healthy: number
  pods: number
  wanted: number
  allowed: number
  desired: number
}[] = [
  { spec: { minAvailable: 2 }, healthy: 3, pods: 3, wanted: 3, allowed: 1, desired: 2 },
  { spec: { minAvailable: '50%' }, healthy: 3, pods: 3, wanted: 3, allowed: 1, desired: 2 },
  { spec: { maxUnavailable: 1 }, healthy: 3, pods: 3, wanted: 3, allowed: 1, desired: 2 },
  { spec: { maxUnavailable: '30%' }, healthy: 10, pods: 10, wanted: 10, allowed: 3, desired: 7 },
  { spec: { maxUnavailable: 1 }, healthy: 2, pods: 2, wanted: 3, allowed: 0, desired: 2 },
  { spec: { minAvailable: 5 }, healthy: 3, pods: 3, wanted: 3, allowed: 0, desired: 5 },
  { spec: { maxUnavailable: 1 }, healthy: 0, pods: 0, wanted: 0, allowed: 0, desired: 0 },
]

for (const row of table) {
  test(`${JSON.stringify(row.spec)} with ${row.healthy} of ${row.wanted} healthy allows ${row.allowed}`, () => {
    const plan = planBudget({
      budget: {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'b' },
        spec: row.spec,
      },
      healthy: row.healthy,
      podCount: row.pods,
      wantedByControllers: row.wanted,
    })
    assert.equal(plan.disruptionsAllowed, row.allowed)
    assert.equal(plan.desiredHealthy, row.desired)
  })
}
