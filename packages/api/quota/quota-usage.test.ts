import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolumeClaim, Pod, ResourceQuota } from '../generated/types.ts'
import { isInQuotaScopes } from './quota-scope.ts'
import { quotaUsage, type QuotaUser } from './quota-usage.ts'

type PodSpec = NonNullable<Pod['spec']>

const asking = { requests: { cpu: '100m', 'x.io/gpu': '2' }, limits: { memory: '1Gi' } }

function pod(spec: Partial<PodSpec> = {}, rest: Partial<Pod> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'a', image: 'a', resources: asking }], ...spec },
    ...rest,
  }
}

const pods = { group: '', resource: 'pods' }
const all = { pods: '1', 'count/pods': '1' }

const usages: { name: string; pod: Pod; nowMs?: number; uses: object }[] = [
  {
    name: 'a pod',
    pod: pod(),
    uses: {
      ...all,
      cpu: '100m',
      'requests.cpu': '100m',
      'requests.x.io/gpu': '2',
      'limits.memory': '1Gi',
    },
  },
  {
    name: 'a pod with overhead',
    pod: pod({ overhead: { cpu: '50m', memory: '1Gi' } }),
    uses: {
      ...all,
      cpu: '150m',
      memory: '1Gi',
      'requests.cpu': '150m',
      'requests.memory': '1Gi',
      'requests.x.io/gpu': '2',
      'limits.memory': '2Gi',
    },
  },
  {
    name: 'a pod that has ended',
    pod: pod({}, { status: { phase: 'Failed' } }),
    uses: { 'count/pods': '1' },
  },
  {
    name: 'a pod that should be gone',
    pod: pod(
      {},
      {
        metadata: {
          name: 'p',
          deletionTimestamp: '2026-01-01T00:00:00Z',
          deletionGracePeriodSeconds: 30,
        },
      },
    ),
    nowMs: Date.parse('2026-01-01T00:01:00Z'),
    uses: { 'count/pods': '1' },
  },
]

for (const row of usages) {
  test(`a quota counts the usage of ${row.name}`, () => {
    assert.deepEqual(quotaUsage(pods, { pod: row.pod }, row.nowMs), row.uses)
  })
}

function claim(attributesClass?: string): PersistentVolumeClaim {
  const named = attributesClass === undefined ? {} : { volumeAttributesClassName: attributesClass }
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'c' },
    spec: { storageClassName: 'fast', resources: { requests: { storage: '5Gi' } }, ...named },
  }
}

test('a quota counts a claim by its class as well', () => {
  assert.deepEqual(
    quotaUsage({ group: '', resource: 'persistentvolumeclaims' }, { claim: claim() }),
    {
      'count/persistentvolumeclaims': '1',
      persistentvolumeclaims: '1',
      'requests.storage': '5Gi',
      'fast.storageclass.storage.k8s.io/requests.storage': '5Gi',
      'fast.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
    },
  )
})

const scopes: { name: string; scope: string; values?: string[]; user: QuotaUser; isIn: boolean }[] =
  [
    {
      name: 'a job with a deadline',
      scope: 'Terminating',
      user: { pod: pod({ activeDeadlineSeconds: 5 }) },
      isIn: true,
    },
    { name: 'a pod without a deadline', scope: 'Terminating', user: { pod: pod() }, isIn: false },
    {
      name: 'a pod that asks for something',
      scope: 'BestEffort',
      user: { pod: pod() },
      isIn: false,
    },
    {
      name: 'a pod of a class',
      scope: 'PriorityClass',
      values: ['high'],
      user: { pod: pod({ priorityClassName: 'high' }) },
      isIn: true,
    },
    {
      name: 'a service',
      scope: 'NotTerminating',
      user: { service: { apiVersion: 'v1', kind: 'Service', metadata: {} } },
      isIn: false,
    },
    {
      name: 'a claim of the class',
      scope: 'VolumeAttributesClass',
      values: ['gold'],
      user: { claim: claim('gold') },
      isIn: true,
    },
    {
      name: 'a claim of no class',
      scope: 'VolumeAttributesClass',
      values: ['gold'],
      user: { claim: claim() },
      isIn: false,
    },
  ]

for (const { name, scope, values, user, isIn } of scopes) {
  test(`${name} is ${isIn ? '' : 'not '}in the scope ${scope}`, () => {
    const operator = values === undefined ? 'Exists' : 'In'
    const expression = { scopeName: scope, operator, ...(values === undefined ? {} : { values }) }
    const quota: ResourceQuota = {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'q' },
      spec: { scopeSelector: { matchExpressions: [expression] } },
    }
    assert.equal(isInQuotaScopes(quota, user), isIn)
  })
}
