import assert from 'node:assert/strict'
import { test } from 'node:test'
import { choosePolicy, matchingPolicies, mayPreempt, selectorRank } from './choose-policy.ts'
import type { PropagationPolicy, PropagationSpec, ResourceSelector } from './propagation-policy.ts'

const web = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace: 'shop', name: 'web', labels: { tier: 'front' } },
}
const deployments: ResourceSelector = { apiVersion: 'apps/v1', kind: 'Deployment' }
const front = { ...deployments, labelSelector: { matchLabels: { tier: 'front' } } }
const byName = { ...deployments, name: 'web' }

function policy(
  name: string,
  resourceSelectors: ResourceSelector[],
  spec: Partial<PropagationSpec> = {},
  namespace = 'shop',
): PropagationPolicy {
  return {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: namespace ? 'PropagationPolicy' : 'ClusterPropagationPolicy',
    metadata: namespace ? { name, namespace } : { name },
    spec: { resourceSelectors, ...spec },
  }
}

test('a selector with a name ignores everything else; one without looks at labels, if it has some', () => {
  const ranks = [
    deployments,
    front,
    byName,
    { ...byName, labelSelector: { matchLabels: { tier: 'back' } } },
    { ...deployments, name: 'other' },
    { ...deployments, labelSelector: { matchLabels: { tier: 'back' } } },
    { ...deployments, labelSelector: {} },
    { ...deployments, namespace: 'shop' },
    { ...byName, namespace: 'office' },
    { apiVersion: 'apps/v1beta1', kind: 'Deployment' },
    { apiVersion: 'apps/v1', kind: 'StatefulSet' },
    {
      ...deployments,
      labelSelector: { matchExpressions: [{ key: 'tier', operator: 'Like', values: ['f'] }] },
    },
  ].map((selector) => selectorRank(web, selector))
  assert.deepEqual(ranks, [1, 2, 3, 3, 0, 0, 2, 1, 0, 0, 0, 0])
})

test('priority decides first, then how closely an object is named, then the name', () => {
  const order = (policies: PropagationPolicy[]) =>
    matchingPolicies(web, policies).map(({ metadata }) => metadata.name)
  const policies = [
    policy('d-all', [deployments]),
    policy('c-front', [front]),
    policy('b-web', [deployments, byName]),
    policy('a-all', [deployments]),
    policy('z-first', [deployments], { priority: 1 }),
    policy('a-last', [byName], { priority: -1 }),
    policy('other', [{ ...deployments, name: 'other' }], { priority: 9 }),
  ]
  const expected = ['z-first', 'b-web', 'c-front', 'a-all', 'd-all', 'a-last']
  assert.deepEqual(order(policies), expected)
  assert.deepEqual(order(policies.toReversed()), expected)
  assert.equal(choosePolicy(web, []), undefined)
})

test('an object is taken from its policy by a higher priority that asks for it', () => {
  const always = { preemption: 'Always' } as const
  const taken = (challenger: PropagationPolicy, claimant: PropagationPolicy) =>
    mayPreempt(challenger, claimant)
  const low = policy('low', [byName])
  const high = policy('high', [deployments], { ...always, priority: 1 })
  const equal = policy('equal', [byName], always)
  const everywhere = policy('all', [byName], { ...always, priority: 9 }, '')
  assert.deepEqual(
    [
      taken(high, low),
      taken(policy('never', [byName], { priority: 5 }), low),
      taken(equal, low),
      taken(low, high),
      taken(equal, everywhere),
      taken(everywhere, low),
      taken(everywhere, policy('some', [byName], {}, '')),
    ],
    [true, false, false, false, true, false, true],
  )
})
