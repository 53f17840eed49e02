import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Explanation } from '../../data/fleet/explanation.ts'
import { applicationRows, applicationTotals, byStanding, type Binding } from './application-rows.ts'

const binding: Binding = {
  metadata: { name: 'web-deployment', namespace: 'shop' },
  spec: {
    resource: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' },
    clusters: [
      { name: 'reef', replicas: 3 },
      { name: 'pilot', replicas: 2 },
      { name: 'far', replicas: 1 },
      { name: 'new', replicas: 1 },
    ],
    suspension: { dispatchingOnClusters: { clusterNames: ['far'] } },
  },
  status: {
    aggregatedStatus: [
      { clusterName: 'reef', applied: true, health: 'Unhealthy', status: { replicas: 3 } },
      {
        clusterName: 'pilot',
        applied: true,
        health: 'Healthy',
        status: { replicas: 2, readyReplicas: 2 },
      },
    ],
  },
}

test('without an explanation the binding says how its clusters are', () => {
  const rows = applicationRows(binding, undefined)
  assert.deepEqual(
    rows.map(({ cluster, standing, ready, desired }) => [cluster, standing, ready, desired]),
    [
      ['reef', 'Unhealthy', 0, 3],
      ['pilot', 'Healthy', 2, 2],
      ['far', 'Suspended', undefined, 1],
      ['new', 'Waiting', undefined, 1],
    ],
  )
})

test('a cluster that could not apply the object says why', () => {
  const failed = {
    ...binding,
    spec: { ...binding.spec, clusters: [{ name: 'reef' }] },
    status: {
      aggregatedStatus: [{ clusterName: 'reef', applied: false, appliedMessage: 'no such kind' }],
    },
  }
  const [row] = applicationRows(failed, undefined)
  assert.deepEqual(
    [row?.standing, row?.message, row?.desired],
    ['Failed', 'no such kind', undefined],
  )
})

test('an explanation covers the whole fleet, with reports where there are some', () => {
  const explanation: Explanation = {
    claim: { why: '', others: [] },
    waves: [],
    clusters: [
      { name: 'pilot', standing: 'Healthy', replicas: 2, why: [], overrides: [] },
      {
        name: 'reef',
        standing: 'Held',
        replicas: 3,
        why: ['Wave "rest" has not opened.'],
        overrides: [{ policy: 'north', rule: 0 }],
      },
      { name: 'elsewhere', standing: 'NotPlaced', why: ['it has a taint'], overrides: [] },
    ],
  }
  const rows = applicationRows(binding, explanation)
  assert.deepEqual(applicationTotals(rows), {
    ready: 2,
    desired: 5,
    standings: [
      ['Held', 1],
      ['Healthy', 1],
    ],
  })
  assert.deepEqual(
    rows.toSorted(byStanding).map(({ cluster }) => cluster),
    ['reef', 'pilot', 'elsewhere'],
  )
  assert.deepEqual(rows[2]?.message, 'it has a taint')
})
