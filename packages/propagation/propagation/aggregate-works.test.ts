import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BoundObject } from '@skerry/karmada-kinds'
import type { Work } from '@skerry/karmada-kinds'
import { aggregatedItems, fullyApplied } from './aggregate-works.ts'

type WorkStatus = NonNullable<Work['status']>

const resource: BoundObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  namespace: 'shop',
  name: 'web',
}
const spec = { resource, clusters: [{ name: 'reef' }, { name: 'shore' }] }
const identifier = {
  ordinal: 0,
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  resource: '',
  namespace: 'shop',
  name: 'web',
}

function work(cluster: string, status: WorkStatus): Work {
  const metadata = { namespace: 'shop', name: 'web' }
  return {
    apiVersion: 'work.karmada.io/v1alpha1',
    kind: 'Work',
    metadata: { namespace: `karmada-es-${cluster}`, name: 'web-1' },
    spec: { workload: { manifests: [{ apiVersion: 'apps/v1', kind: 'Deployment', metadata }] } },
    status,
  }
}

function applied(status: 'True' | 'False', message = ''): WorkStatus {
  const lastTransitionTime = '2026-01-01T00:00:00Z'
  return { conditions: [{ type: 'Applied', status, reason: 'Test', message, lastTransitionTime }] }
}

function told(status: Record<string, unknown>): WorkStatus {
  return { ...applied('True'), manifestStatuses: [{ identifier, status, health: 'Healthy' }] }
}

test('a binding lists its clusters by name, each with the report of its agent', () => {
  const works = [
    work('shore', { ...told({ replicas: 2 }), ...applied('False', 'no room') }),
    work('reef', told({ replicas: 1 })),
  ]
  assert.deepEqual(aggregatedItems(works, resource), [
    { clusterName: 'reef', applied: true, status: { replicas: 1 }, health: 'Healthy' },
    { clusterName: 'shore', appliedMessage: 'no room', health: 'Unknown' },
  ])
})

test("an agent's report about another object is not taken for this one", () => {
  const other = { ...identifier, namespace: 'shop-reef' }
  const status = { ...applied('True'), manifestStatuses: [{ identifier: other, status: { a: 1 } }] }
  assert.deepEqual(aggregatedItems([work('reef', status)], resource), [
    { clusterName: 'reef', applied: true, health: 'Unknown' },
  ])
})

test('an object is fully applied when it is in each of its clusters, and in no other', () => {
  const item = (clusterName: string) => ({ clusterName, applied: true })
  const table = [
    [['reef', 'shore'], 'True'],
    [['reef'], 'False'],
    [['reef', 'shore', 'cove'], 'False'],
    [['reef', 'cove'], 'False'],
  ] as const
  for (const [clusters, expected] of table) {
    assert.equal(fullyApplied(spec, clusters.map(item)).status, expected, clusters.join())
  }
  assert.equal(fullyApplied({ resource }, []).status, 'False')
})
