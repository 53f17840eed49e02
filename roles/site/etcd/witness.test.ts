import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SeenMember } from './cluster-state.ts'
import { heirOf } from './witness.ts'

function member(id: string, name: string, changed: Partial<SeenMember> = {}): SeenMember {
  const address = `10.0.0.${id}`
  const urls = { address, clientUrl: `https://${address}:2379` }
  return { id, name, ...urls, isLeader: false, isLearner: false, isHealthy: true, ...changed }
}

test('nobody takes the lead from a master', () => {
  const members = [member('1', 'a', { isLeader: true }), member('2', 'b'), member('3', 'witness')]
  assert.equal(heirOf(members), undefined)
})

test('one healthy master with a vote takes the lead from a witness, and all agree which one', () => {
  const witness = member('1', 'witness-hub', { isLeader: true })
  const members = [witness, member('3', 'b'), member('2', 'a')]
  assert.equal(heirOf(members), '2')
  assert.equal(heirOf(members.toReversed()), '2')
})

test('a master that is silent or learns does not take the lead', () => {
  const witness = member('1', 'witness', { isLeader: true })
  const silent = member('2', 'a', { isHealthy: false })
  const learner = member('3', 'b', { isLearner: true })
  assert.equal(heirOf([witness, silent, learner]), undefined)
  assert.equal(heirOf([witness, silent, learner, member('4', 'c')]), '4')
})
