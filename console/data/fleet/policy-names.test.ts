import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claimant, claimLabel, isPolicyKind, policyObject, policyPage } from './policy-names.ts'

test('a claim names the policy of the namespace before one of the whole fleet', () => {
  const own = {
    'propagationpolicy.karmada.io/name': 'web',
    'propagationpolicy.karmada.io/namespace': 'shop',
  }
  const wide = { 'clusterpropagationpolicy.karmada.io/name': 'all' }
  const of = (annotations: Record<string, string>) => claimant({ metadata: { annotations } })
  assert.deepEqual(of({ ...wide, ...own }), {
    kind: 'PropagationPolicy',
    namespace: 'shop',
    name: 'web',
  })
  assert.deepEqual(of(wide), { kind: 'ClusterPropagationPolicy', name: 'all' })
  assert.equal(of({}), undefined)
  assert.equal(claimLabel('PropagationPolicy'), 'propagationpolicy.karmada.io/permanent-id')
})

test('a policy has one address as an object and one as a page', () => {
  const wide = { kind: 'ClusterOverridePolicy', name: 'all' }
  assert.deepEqual(policyObject(wide), {
    group: 'policy.karmada.io',
    version: 'v1alpha1',
    resource: 'clusteroverridepolicies',
    name: 'all',
  })
  assert.equal(policyPage(wide), '/policies/ClusterOverridePolicy/-/all')
  assert.equal(policyObject({ kind: 'toString', name: 'x' }), undefined)
  assert.equal(isPolicyKind('constructor'), false)
})
