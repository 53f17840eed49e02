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
  const kind = edgeJobKinds([], () => []).find((each) => each.kind === 'EdgeJobCluster')
  const fieldsOf = (spec: object) =>
    kind?.strategy.validateUpdate?.(part(spec), part({})).map(({ field }) => field)
  assert.deepEqual(fieldsOf({ confirmed: ['*'], cancelled: true }), [])
  assert.deepEqual(fieldsOf({ edgeCluster: 'branch-8' }), ['spec.edgeCluster'])
  assert.deepEqual(fieldsOf({ job: 'summer' }), ['spec.job'])
})

const [job] = edgeJobKinds([], () => ['0.1.0', '0.2.0', '0.2.0-0123456789ab'])

function jobTo(upgrade: object) {
  return {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeJob',
    metadata: { name: 'spring', namespace: 'default' },
    spec: { upgrade, clusters: { names: ['branch-7'] } },
  }
}

test('a job to a version that the hub does not have is refused, with the versions that it has', () => {
  const [cause, ...others] = job?.strategy.validate?.(jobTo({ version: '9.9.9' })) ?? []
  assert.deepEqual(others, [])
  assert.equal(cause?.field, 'spec.upgrade.version')
  assert.match(cause?.message ?? '', /9\.9\.9.*0\.1\.0.*0\.2\.0-0123456789ab/)
  for (const version of ['0.2.0', '0.2.0-0123456789ab']) {
    assert.deepEqual(job?.strategy.validate?.(jobTo({ version })), [])
  }
})

test('a job is not refused later if the hub has lost the version', () => {
  const old = jobTo({ version: '0.0.9' })
  const next = { ...old, metadata: { ...old.metadata, annotations: { a: 'b' } } }
  assert.deepEqual(job?.strategy.validateUpdate?.(next, old), [])
})
