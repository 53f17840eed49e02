import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, Pod } from '@skerry/api'
import { apiEnablementsOf, nodeSummaryOf, resourceSummaryOf } from './cluster-facts.ts'

function node(name: string, ready: string, cpu: string): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    status: {
      allocatable: { cpu, memory: '1Gi' },
      conditions: [{ type: 'Ready', status: ready }],
    },
  }
}

function pod(spec: Partial<Pod['spec'] & object>, phase = 'Running'): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [], ...spec },
    status: { phase },
  }
}

const asks = (cpu: string, restartPolicy?: string) => ({
  name: 'c',
  resources: { requests: { cpu } },
  ...(restartPolicy ? { restartPolicy } : {}),
})

test('facts count the nodes and their resources', () => {
  const nodes = [node('a', 'True', '2'), node('b', 'Unknown', '500m')]
  assert.deepEqual(nodeSummaryOf(nodes), { totalNum: 2, readyNum: 1 })
  assert.deepEqual(resourceSummaryOf(nodes, []).allocatable, { cpu: '2500m', memory: '2Gi' })
})

test('pods on nodes are allocated, waiting ones are allocating, ended ones are neither', () => {
  const pods = [
    pod({ nodeName: 'a', containers: [asks('100m'), asks('200m')] }),
    // Init containers run one by one; the largest counts if it exceeds the rest.
    pod({ nodeName: 'a', containers: [asks('100m')], initContainers: [asks('1'), asks('500m')] }),
    // A sidecar runs along with all that follows.
    pod({ nodeName: 'a', containers: [asks('1')], initContainers: [asks('100m', 'Always')] }),
    pod({ nodeName: 'a', containers: [asks('1')], overhead: { cpu: '50m' } }),
    pod({ containers: [asks('3')] }, 'Pending'),
    pod({ nodeName: 'a', containers: [asks('4')] }, 'Succeeded'),
  ]
  const { allocated, allocating } = resourceSummaryOf([], pods)
  assert.deepEqual(allocated, { cpu: '3450m', pods: '4' })
  assert.deepEqual(allocating, { cpu: '3', pods: '1' })
})

test('APIs are listed by group version and name', () => {
  const one = (group: string, resource: string, kind: string) => ({
    group,
    version: 'v1',
    resource,
    kind,
    isNamespaced: true,
    verbs: [],
    subresources: [],
    foreignSubresources: [],
    shortNames: [],
    categories: [],
    isPreferred: true,
  })
  const resources = [
    one('', 'pods', 'Pod'),
    one('apps', 'deployments', 'Deployment'),
    one('', 'nodes', 'Node'),
  ]
  assert.deepEqual(apiEnablementsOf({ resources }), [
    { groupVersion: 'apps/v1', resources: [{ name: 'deployments', kind: 'Deployment' }] },
    {
      groupVersion: 'v1',
      resources: [
        { name: 'nodes', kind: 'Node' },
        { name: 'pods', kind: 'Pod' },
      ],
    },
  ])
})
