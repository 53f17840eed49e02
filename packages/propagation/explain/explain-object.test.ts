import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject } from '@skerry/api'
import type { PropagationPolicy, ResourceBinding, Work } from '@skerry/karmada-kinds'
import type { Cluster } from '@skerry/fleet-kinds'
import { claimMetadata } from '../propagation/claim.ts'
import { explainClaim } from './explain-claim.ts'
import { explainObject } from './explain-object.ts'

type PropagationSpec = PropagationPolicy['spec']

const since = '2026-01-02T03:04:05Z'

function policy(name: string, spec: Partial<PropagationSpec> = {}, namespace?: string) {
  const id = `id-of-${name}`
  const label = namespace ? 'propagationpolicy' : 'clusterpropagationpolicy'
  const made: PropagationPolicy = {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: namespace ? 'PropagationPolicy' : 'ClusterPropagationPolicy',
    metadata: {
      name,
      ...(namespace ? { namespace } : {}),
      labels: { [`${label}.karmada.io/permanent-id`]: id },
    },
    spec: { resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap' }], ...spec },
  }
  return made
}

function settings(claimant?: PropagationPolicy): AnyObject {
  const metadata = { namespace: 'shop', name: 'settings' }
  const claim = claimant ? claimMetadata(claimant) : {}
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata, ...claim } }
}

test('an explanation says why each policy that selects an object does not have it', () => {
  const claimant = policy('m', { priority: 1 }, 'shop')
  const byName = { resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'settings' }] }
  const others = [
    policy('low', {}, 'shop'),
    policy('late', { priority: 1 }, 'shop'),
    policy('close', { ...byName, priority: 1 }, 'shop'),
    policy('high', { priority: 2 }, 'shop'),
    policy('taking', { priority: 2, preemption: 'Always' }, 'shop'),
    policy('all', { priority: 9 }),
    policy('not', { resourceSelectors: [{ apiVersion: 'v1', kind: 'Secret' }] }, 'shop'),
  ]
  const late = {
    ...others[1],
    metadata: { ...others[1]?.metadata, name: 'z' },
  } as PropagationPolicy
  const all = [claimant, ...others.filter((_, at) => at !== 1), late]
  const { why, others: told } = explainClaim({
    template: settings(claimant),
    policies: all,
    overridePolicies: [],
  })
  assert.match(why, /claimed the object before the others/)
  assert.deepEqual(Object.fromEntries(told.map((each) => [each.policy.name, each.why])), {
    low: 'its priority 0 is lower than 1',
    z: 'its name comes later',
    close: 'the object was claimed before, and only a higher priority preempts',
    high: 'the object was claimed before, and it does not preempt (spec.preemption: Always)',
    taking: 'it may preempt the claim, and has not done so yet',
    all: 'a policy of the namespace comes before those of the whole fleet',
  })
})

test('an object that no policy selects may still go somewhere, and the explanation says so', () => {
  const resource = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'settings' }
  const bound = (spec: Partial<ResourceBinding['spec']>): ResourceBinding => ({
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: { namespace: 'shop', name: 'settings-configmap' },
    spec: { resource, ...spec },
  })
  const told = (template: AnyObject, binding?: ResourceBinding) =>
    explainObject({
      template,
      policies: [],
      overridePolicies: [],
      binding,
      clusters: [cluster('reef', 'True')],
      plan: { sites: [], failures: [] },
    })
  const parent = { namespace: 'shop', name: 'web-deployment', clusters: [{ name: 'pilot' }] }
  const needed = told(settings(), bound({ requiredBy: [parent] }))
  assert.equal(
    needed.claim.why,
    'no policy selects it: it goes along with the objects that need it',
  )
  assert.deepEqual(needed.clusters[0]?.why, ['nothing that needs it goes there'])
  const left = told(settings(), bound({ placement: {}, clusters: [{ name: 'pilot' }] }))
  assert.equal(left.claim.why, 'no policy selects it any more: its copies stay')
  const namespace = (name: string): AnyObject => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name },
  })
  assert.equal(
    told(namespace('shop')).claim.why,
    'no policy selects it: it is made wherever its contents go',
  )
  for (const template of [settings(), namespace('default'), namespace('kube-system')]) {
    assert.equal(told(template).claim.why, 'no policy selects it: it stays on the hub')
  }
})

test('a policy that waits for an override names it', () => {
  const waiting = policy('web', { dependentOverrides: ['registry', 'labels'] }, 'shop')
  const labels = {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'OverridePolicy',
    metadata: { namespace: 'shop', name: 'labels' },
    spec: {},
  }
  const facts = { policies: [waiting], overridePolicies: [labels] }
  const unclaimed = explainClaim({ template: settings(), ...facts })
  assert.deepEqual(unclaimed.others, [
    {
      policy: { kind: 'PropagationPolicy', namespace: 'shop', name: 'web' },
      why: 'it selects the object, and waits for override policy "registry", which is not there',
    },
  ])
  const { why } = explainClaim({ template: settings(waiting), ...facts })
  assert.equal(
    why,
    'it alone selects the object; nothing new goes out before override policy "registry" is there',
  )
})

function cluster(name: string, ready: string, annotations: Record<string, string> = {}): Cluster {
  const condition = {
    type: 'Ready',
    status: ready === 'True' ? 'True' : 'False',
    reason: 'Told',
    message: '',
    lastTransitionTime: since,
  } as const
  return {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name, annotations },
    spec: { syncMode: 'Pull' },
    status: { conditions: [condition] },
  }
}

function work(applied?: { status: 'True' | 'False'; generation: number }, health?: string): Work {
  const condition = {
    type: 'Applied',
    status: applied?.status ?? 'True',
    reason: 'Told',
    message: 'quota exceeded',
    lastTransitionTime: since,
    observedGeneration: applied?.generation ?? 0,
  }
  const identifier = {
    ordinal: 0,
    version: 'v1',
    kind: 'ConfigMap',
    resource: '',
    name: 'settings',
  }
  return {
    apiVersion: 'work.karmada.io/v1alpha1',
    kind: 'Work',
    metadata: { generation: 2 },
    spec: {},
    status: {
      ...(applied ? { conditions: [condition] } : {}),
      ...(health === 'Healthy' || health === 'Unhealthy'
        ? { manifestStatuses: [{ identifier, health }] }
        : {}),
    },
  }
}

test('a cluster that the object leaves says so, before the reason why it is not placed there', () => {
  const claimant = policy('web', {}, 'shop')
  const task = { fromCluster: 'old', reason: 'TaintUntolerated', producer: 'failover' }
  const resource = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'settings' }
  const binding: ResourceBinding = {
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: { namespace: 'shop', name: 'settings-configmap' },
    spec: {
      resource,
      placement: { clusterAffinity: { clusterNames: ['new'] } },
      gracefulEvictionTasks: [task],
    },
  }
  const [old] = explainObject({
    template: settings(claimant),
    policies: [claimant],
    overridePolicies: [],
    binding,
    clusters: [cluster('old', 'True')],
    plan: { sites: [], failures: [] },
  }).clusters
  assert.equal(old?.standing, 'NotPlaced')
  assert.equal(
    old.why[0],
    'It leaves, and another cluster takes over (TaintUntolerated, by failover).',
  )
  assert.match(old.why[1] ?? '', /affinity/)
})

test('an object that must be apart from another one is not reported to fit where that one is', () => {
  const claimant = policy('web', {}, 'shop')
  const resource = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'settings' }
  const served = [{ groupVersion: 'v1', resources: [{ name: 'configmaps', kind: 'ConfigMap' }] }]
  const taken = cluster('taken', 'True')
  const status = { ...taken.status, apiEnablements: served }
  const grouped = (name: string, spec: Partial<ResourceBinding['spec']>): ResourceBinding => ({
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: { namespace: 'shop', name: `${name}-configmap` },
    spec: {
      resource: { ...resource, name },
      placement: {},
      workloadAffinityGroups: { antiAffinityGroup: 'team=tills' },
      ...spec,
    },
  })
  const binding = grouped('settings', {})
  const [told] = explainObject({
    template: settings(claimant),
    policies: [claimant],
    overridePolicies: [],
    binding,
    others: [binding, grouped('other', { clusters: [{ name: 'taken' }] })],
    clusters: [{ ...taken, status }],
    plan: { sites: [], failures: [] },
  }).clusters
  assert.deepEqual(told?.why, ['cluster already has workload with the same anti-affinity group'])
})

test('an explanation says for each cluster why the object waits, the first reason first', () => {
  const claimant = policy('web', {}, 'shop')
  const current = { status: 'True', generation: 2 } as const
  const known: Record<string, Work | undefined> = {
    healthy: work(current, 'Healthy'),
    unhealthy: work(current, 'Unhealthy'),
    untold: work({ status: 'True', generation: 1 }, 'Healthy'),
    silent: work(),
    refused: work({ status: 'False', generation: 2 }),
    unwritten: undefined,
    suspended: work(current, 'Healthy'),
    away: work(current, 'Healthy'),
    unwilling: undefined,
  }
  const clusters = [...Object.keys(known), 'broken'].map((name) =>
    cluster(
      name,
      name === 'away' ? 'False' : 'True',
      name === 'unwilling' ? { 'hub.skerry.io/applies-works': 'false' } : {},
    ),
  )
  const template = settings(claimant)
  const binding: ResourceBinding = {
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: { namespace: 'shop', name: 'settings-configmap', ...claimMetadata(claimant) },
    spec: {
      resource: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'settings' },
      clusters: clusters.map(({ metadata: { name = '' } }) => ({ name })),
      suspension: { dispatchingOnClusters: { clusterNames: ['suspended'] } },
    },
  }
  const sites = clusters
    .filter(({ metadata }) => metadata.name !== 'broken')
    .map((each) => ({ cluster: each, planned: work(), known: known[each.metadata.name ?? ''] }))
  const failures = clusters
    .filter(({ metadata }) => metadata.name === 'broken')
    .map((each) => ({ cluster: each, why: 'no such key' }))
  const plan = { sites, failures }
  const facts = { template, policies: [claimant], overridePolicies: [], binding, clusters, plan }
  const told = explainObject(facts).clusters
  assert.deepEqual(
    Object.fromEntries(told.map(({ name, standing, why }) => [name, [standing, ...why]])),
    {
      healthy: ['Healthy'],
      unhealthy: ['Unhealthy', 'It is applied, and not healthy.'],
      untold: ['Waiting', 'Its agent has not reported it yet.'],
      silent: ['Waiting', 'Its agent has not reported it yet.'],
      refused: ['Failed', 'quota exceeded'],
      unwritten: ['Waiting', 'Its Work is not written yet.'],
      suspended: ['Suspended', 'The policy has suspended dispatching to it.'],
      away: [
        'Away',
        `The cluster is away since ${since} (Told): it gets the newest when it is back.`,
      ],
      unwilling: ['Failed', 'Its agent applies no Works: start it with --apply-works.'],
      broken: ['Failed', 'It cannot be made for this cluster: no such key'],
    },
  )
})
