import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject, ObjectMeta } from '@skerry/api'
import type { PropagationPolicy } from '@skerry/karmada-kinds'
import { claimMetadata } from './claim.ts'
import { planPropagation, type PropagationPlan } from './plan-propagation.ts'

type PropagationSpec = PropagationPolicy['spec']

const deployments = { apiVersion: 'apps/v1', kind: 'Deployment' }

function policy(
  name: string,
  spec: Partial<PropagationSpec> = {},
  metadata: ObjectMeta = {},
): PropagationPolicy {
  const isCluster = name.startsWith('all')
  const kind = isCluster ? 'ClusterPropagationPolicy' : 'PropagationPolicy'
  return {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind,
    metadata: {
      name,
      ...(isCluster ? {} : { namespace: 'shop' }),
      labels: { [`${kind.toLowerCase()}.karmada.io/permanent-id`]: `id-of-${name}` },
      ...metadata,
    },
    spec: { resourceSelectors: [{ ...deployments, name: 'web' }], ...spec },
  }
}

function template(metadata: ObjectMeta = {}): AnyObject {
  return { ...deployments, metadata: { namespace: 'shop', name: 'web', ...metadata } }
}

const going = { deletionTimestamp: '2026-01-01T00:00:00Z' }
const always = { preemption: 'Always', priority: 1 } as const
const elsewhere = { resourceSelectors: [{ ...deployments, name: 'other' }] }

interface Case {
  name: string
  claimedBy?: PropagationPolicy
  metadata?: ObjectMeta
  policies?: PropagationPolicy[]
  clusterPolicies?: PropagationPolicy[]
  /** Name of the policy that has the object then; or release, or nothing. */
  expected: string
}

const cases: readonly Case[] = [
  { name: 'that no policy selects is left alone', policies: [], expected: 'nothing' },
  {
    name: 'goes by the policy of its namespace before any of the fleet',
    policies: [policy('own')],
    clusterPolicies: [policy('all', { priority: 9 })],
    expected: 'own',
  },
  {
    name: 'stays with the policy that has it, though another one came first by name',
    claimedBy: policy('own'),
    policies: [policy('a'), policy('own')],
    expected: 'own',
  },
  {
    name: 'is taken by a policy of higher priority that asks for it',
    claimedBy: policy('own'),
    policies: [policy('own'), policy('taker', always)],
    expected: 'taker',
  },
  {
    name: 'is not taken by one of the fleet from one of the namespace',
    claimedBy: policy('own'),
    policies: [policy('own')],
    clusterPolicies: [policy('all', always)],
    expected: 'own',
  },
  {
    name: 'is released when its policy is gone',
    claimedBy: policy('gone'),
    policies: [policy('own')],
    expected: 'release',
  },
  {
    name: 'that claims to be of a policy of another namespace is not believed',
    claimedBy: policy('own', {}, { namespace: 'vault' }),
    policies: [policy('own')],
    clusterPolicies: [policy('all')],
    expected: 'release',
  },
  {
    name: 'that claims to be of a policy that does not select it goes nowhere',
    claimedBy: policy('all', elsewhere),
    clusterPolicies: [policy('all', elsewhere)],
    expected: 'nothing',
  },
  {
    name: 'waits while its policy is going',
    claimedBy: policy('own'),
    policies: [policy('own', {}, going), policy('other')],
    expected: 'nothing',
  },
  {
    name: 'stays as it is when its policy selects it no more, until that one lets go',
    claimedBy: policy('own'),
    policies: [policy('own', elsewhere)],
    expected: 'nothing',
  },
  {
    name: 'is offered to no policy that is going',
    policies: [policy('a', {}, going), policy('b')],
    expected: 'b',
  },
  {
    name: 'that is going itself is left alone',
    metadata: going,
    policies: [policy('own')],
    expected: 'nothing',
  },
]

for (const {
  name,
  claimedBy,
  metadata = {},
  policies = [],
  clusterPolicies = [],
  expected,
} of cases) {
  test(`an object ${name}`, () => {
    const claim = claimedBy ? claimMetadata(claimedBy) : {}
    const plan = planPropagation({
      template: template({ ...claim, ...metadata }),
      policies,
      clusterPolicies,
    })
    assert.equal(outcomeOf(plan), expected)
  })
}

function outcomeOf(plan: PropagationPlan): string {
  return plan.act === 'apply' ? (plan.policy.metadata.name ?? '') : plan.act
}
