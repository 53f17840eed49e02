import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSameFacts } from './same-facts.ts'

const written = {
  nodeSummary: { totalNum: 0, readyNum: 0 },
  resourceSummary: { allocatable: {}, allocatableModelings: [{ grade: 1, count: 0 }] },
  conditions: [{ type: 'Ready', status: 'True' }],
}
const kept = {
  conditions: [{ status: 'True', type: 'Ready' }],
  nodeSummary: {},
  resourceSummary: { allocatableModelings: [{ count: 0, grade: 1 }] },
}

test('the hub keeps a status as it was written, until a fact changes', () => {
  assert.equal(isSameFacts(written, kept), true)
  assert.equal(isSameFacts(undefined, {}), true)
  const grown = { ...written, nodeSummary: { totalNum: 1, readyNum: 0 } }
  assert.equal(isSameFacts(grown, kept), false)
  const lost = { ...written, conditions: [] }
  assert.equal(isSameFacts(lost, kept), false)
})
