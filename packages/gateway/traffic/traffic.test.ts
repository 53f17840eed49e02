import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultTrafficRules, type TrafficClass, type TunnelHeaders } from '@skerry/tunnel'
import type { TrafficContract } from '@skerry/fleet-kinds'
import { classifyRequest } from './classify-request.ts'
import { planTraffic } from './plan-traffic.ts'

const pods = '/api/v1/namespaces/shop/pods'

const requests: readonly [path: string, is: TrafficClass, isUpgrade?: boolean, length?: string][] =
  [
    ['/api', 'control'],
    ['/version', 'control'],
    [`${pods}?watch=true`, 'control'],
    [`${pods}?resourceVersion=5&watch=1`, 'control', true],
    ['/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/a', 'control'],
    [pods, 'control', false, '65536'],
    [pods, 'bulk', false, '65537'],
    [`${pods}/web/exec?command=sh`, 'interactive', true],
    [`${pods}/web/attach`, 'interactive', true],
    [`${pods}/web/portforward`, 'interactive', true],
    [`${pods}/web/log?follow=true`, 'logs'],
    [`${pods}/web/log`, 'logs'],
    [`${pods}/log`, 'control'],
    [`${pods}/web/proxy/x`, 'bulk'],
    [`${pods}/web/proxy`, 'bulk', true],
    ['/api/v1/nodes/a/proxy/logs/', 'bulk'],
    ['/api/v1/namespaces/shop/services/https:web:443/proxy/api', 'bulk'],
    ['/services/shop/web:80/', 'bulk'],
    ['/apiary', 'bulk'],
  ]
test('a request has the class of its use', () => {
  for (const [path, is, isUpgrade = false, length = ''] of requests) {
    const headers: TunnelHeaders = length === '' ? {} : { 'content-length': length }
    assert.equal(classifyRequest({ method: 'GET', path, headers }, isUpgrade), is, path)
  }
})

function contract(name: string, spec: TrafficContract['spec']): TrafficContract {
  const apiVersion = 'hub.skerry.io/v1alpha1'
  return { apiVersion, kind: 'TrafficContract', metadata: { name }, spec }
}

const lte = contract('lte', { clusterSelector: { matchLabels: { link: 'lte' } } })
const all = contract('all', { clusterSelector: {} })
const named = contract('named', { clusterNames: ['oslo'], priority: 5 })
const urgent = contract('urgent', { clusterNames: ['rome'], priority: 10 })
const unreadable = contract('a-unreadable', {
  clusterSelector: { matchExpressions: [{ key: 'a', operator: 'Near' }] },
})

const choices: readonly [contracts: readonly TrafficContract[], is: string | undefined][] = [
  [[], undefined],
  [[urgent], undefined],
  [[lte], 'lte'],
  [[lte, all], 'all'],
  [[all, lte], 'all'],
  [[lte, all, named, urgent], 'named'],
  [[unreadable, lte], 'lte'],
]
test('the highest of several contracts holds, then the first by name', () => {
  const cluster = { metadata: { name: 'oslo', labels: { link: 'lte' } } }
  for (const [contracts, is] of choices) {
    const names = contracts.map(({ metadata }) => metadata.name).join(', ')
    assert.equal(planTraffic(cluster, contracts).contract, is, names)
  }
})

test('a value that a contract omits is as without a contract, and a burst is one second of its rate', () => {
  const cluster = { metadata: { name: 'oslo' } }
  const plan = planTraffic(cluster, [
    contract('thin', {
      clusterNames: ['oslo'],
      uplink: { bytesPerSecond: '64k' },
      classes: { logs: { floorPercent: 20 } },
      bulkAfter: '1Mi',
    }),
  ])
  const floors = { ...defaultTrafficRules.floors, logs: 0.2 }
  assert.deepEqual(plan, {
    contract: 'thin',
    toAgent: { floors, bulkAfterBytes: 1_048_576 },
    toHub: {
      floors,
      bulkAfterBytes: 1_048_576,
      rate: { bytesPerSecond: 64_000, burstBytes: 64_000 },
    },
  })
})
