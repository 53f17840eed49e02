import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cluster, ClusterSpec } from '@skerry/fleet-kinds'
import type { SpreadConstraint } from '@skerry/karmada-kinds'
import { placeBinding } from './place-binding.ts'

const resource = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'settings' }
const enabled = { groupVersion: 'v1', resources: [{ name: 'configmaps', kind: 'ConfigMap' }] }

function cluster(
  name: string,
  place: Partial<ClusterSpec>,
  labels: Record<string, string> = {},
): Cluster {
  return {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name, labels },
    spec: { syncMode: 'Pull', ...place },
    status: { apiEnablements: [enabled] },
  }
}

/** Two in each of the first two groups, one in the third, and one in none. */
const clusters = [
  cluster('a1', { provider: 'a', zones: ['a', 'b'] }, { tier: 'a' }),
  cluster('a2', { provider: 'a', zones: ['a'] }, { tier: 'a' }),
  cluster('b1', { provider: 'b', zones: ['b'] }, { tier: 'b' }),
  cluster('b2', { provider: 'b', zones: ['b'] }, { tier: 'b' }),
  cluster('c1', { provider: 'c', zones: ['c'] }, { tier: 'c' }),
  cluster('none', {}),
]

function placed(...spreadConstraints: SpreadConstraint[]) {
  const spec = { resource, placement: { spreadConstraints } }
  const { clusters: chosen, message, diagnosis } = placeBinding({ spec, clusters })
  return { names: (chosen ?? []).map(({ name }) => name), message, diagnosis }
}

const groupings: [what: string, by: SpreadConstraint, missing: string][] = [
  ['provider', { spreadByField: 'provider' }, 'cluster(s) did not have provider property'],
  ['zone', { spreadByField: 'zone' }, 'cluster(s) did not have zones property'],
  ['label tier', { spreadByLabel: 'tier' }, 'cluster(s) did not have label tier'],
]

for (const [what, by, missing] of groupings) {
  test(`clusters are taken from the required number of groups by ${what}`, () => {
    const byCluster = { spreadByField: 'cluster', minGroups: 2, maxGroups: 3 } as const
    const two = placed({ ...by, minGroups: 2, maxGroups: 2 }, byCluster)
    assert.deepEqual(two.names, ['a1', 'b1', 'a2'], 'one of each group, then the best of the rest')
    assert.deepEqual(two.diagnosis, [{ cluster: 'none', reasons: [missing] }])
    const three = placed({ ...by, minGroups: 3, maxGroups: 3 }, byCluster)
    assert.deepEqual(three.names.toSorted(), ['a1', 'b1', 'c1'])
    const many = placed({ ...by, minGroups: 2 }, { spreadByField: 'cluster', minGroups: 4 })
    assert.deepEqual(many.names.toSorted(), ['a1', 'a2', 'b1', 'b2'])
  })

  test(`too few groups by ${what} are reported`, () => {
    const { names, message } = placed(
      { ...by, minGroups: 4, maxGroups: 4 },
      { spreadByField: 'cluster', minGroups: 1, maxGroups: 9 },
    )
    assert.deepEqual(names, [])
    assert.equal(
      message,
      `failed to select clusters: the number of feasible ${what} is less than spreadConstraint.MinGroups`,
    )
  })
}

test('without a number of clusters, there is one of each group', () => {
  const { names } = placed({ spreadByLabel: 'tier', minGroups: 2, maxGroups: 2 })
  assert.deepEqual(names.toSorted(), ['a1', 'b1'])
})
