import assert from 'node:assert/strict'
import { test } from 'node:test'
import { edgeJobKinds } from './edge-job-kind.ts'

const part = (spec: object) => ({
  apiVersion: 'hub.skerry.io/v1alpha1',
  kind: 'EdgeJobCluster',
  metadata: { name: 'spring.branch-7', namespace: 'default' },
  spec: { job: 'spring', edgeCluster: 'branch-7', ...spec },
})

test('the part of a job for one cluster is never moved to another job or cluster', () => {
  const kind = edgeJobKinds([]).find((each) => each.kind === 'EdgeJobCluster')
  const fieldsOf = (spec: object) =>
    kind?.strategy.validateUpdate?.(part(spec), part({})).map(({ field }) => field)
  assert.deepEqual(fieldsOf({ confirmed: ['*'], cancelled: true }), [])
  assert.deepEqual(fieldsOf({ edgeCluster: 'branch-8' }), ['spec.edgeCluster'])
  assert.deepEqual(fieldsOf({ job: 'summer' }), ['spec.job'])
})
