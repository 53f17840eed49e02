import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cluster } from '@skerry/fleet-kinds'
import { matchesAffinity } from './cluster-affinity.ts'
import type { ClusterAffinity } from './propagation-policy.ts'

const shore: Cluster = {
  apiVersion: 'cluster.karmada.io/v1alpha1',
  kind: 'Cluster',
  metadata: { name: 'shore', labels: { tier: 'edge' } },
  spec: { syncMode: 'Pull', provider: 'acme', region: 'north', zones: ['n1', 'n2'] },
}

const field = (key: string, operator: string, ...values: string[]): ClusterAffinity => ({
  fieldSelector: { matchExpressions: [{ key, operator, values }] },
})

const cases: readonly [name: string, affinity: ClusterAffinity | undefined, isMeant: boolean][] = [
  ['nothing asked', undefined, true],
  ['an empty affinity', {}, true],
  ['named', { clusterNames: ['shore', 'reef'] }, true],
  ['others named', { clusterNames: ['reef'] }, false],
  ['named and excluded', { clusterNames: ['shore'], exclude: ['shore'] }, false],
  ['its label', { labelSelector: { matchLabels: { tier: 'edge' } } }, true],
  ['another label', { labelSelector: { matchLabels: { tier: 'core' } } }, false],
  ['an empty label selector', { labelSelector: {} }, true],
  [
    'a label selector that cannot be read',
    { labelSelector: { matchExpressions: [{ key: 'tier', operator: 'Like' }] } },
    false,
  ],
  ['its provider', field('provider', 'In', 'acme'), true],
  ['not its provider', field('provider', 'NotIn', 'acme'), false],
  ['its region', field('region', 'Exists'), true],
  ['no region', field('region', 'DoesNotExist'), false],
  ['a list that is empty', field('region', 'NotIn'), false],
  ['one of its zones', field('zone', 'In', 'n2', 'n9'), true],
  ['neither of its zones', field('zone', 'NotIn', 'n9'), true],
  ['any but one of its zones', field('zone', 'NotIn', 'n2'), false],
  ['some zone', field('zone', 'Exists'), true],
  ['no zone', field('zone', 'DoesNotExist'), false],
  ['a region above a number', field('region', 'Gt', '4'), false],
  [
    'its name, but another region',
    { clusterNames: ['shore'], ...field('region', 'In', 'x') },
    false,
  ],
]

for (const [name, affinity, isMeant] of cases) {
  test(`an affinity with ${name} ${isMeant ? 'means' : 'does not mean'} the cluster`, () => {
    assert.equal(matchesAffinity(shore, affinity), isMeant)
  })
}

test('a cluster without fields is not in any region, and outside each of them', () => {
  const bare: Cluster = { ...shore, spec: { syncMode: 'Pull' } }
  assert.equal(matchesAffinity(bare, field('region', 'In', 'north')), false)
  assert.equal(matchesAffinity(bare, field('region', 'NotIn', 'north')), true)
})
