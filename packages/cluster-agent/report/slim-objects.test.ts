import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, Pod } from '@skerry/api'
import { groupLabel } from '@skerry/fleet-kinds'
import { allocatableModelings } from './allocatable-modelings.ts'
import { nodeSummaryOf, resourceSummaryOf } from './cluster-facts.ts'
import { createSlimmer } from './slim-objects.ts'

const asked = { requests: { cpu: '250m', memory: '64Mi' }, limits: { cpu: '1' } }

function pod(index: number, more: Pick<Pod, 'spec' | 'status'> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `web-${index}`,
      namespace: 'shop',
      uid: `uid-${index}`,
      resourceVersion: String(index),
      labels: { app: 'web' },
      annotations: { note: 'long' },
    },
    spec: {
      nodeName: 'n1',
      containers: [{ name: 'web', image: 'web:1', resources: asked, env: [{ name: 'A' }] }],
      initContainers: [
        { name: 'proxy', restartPolicy: 'Always', resources: { requests: { cpu: '50m' } } },
        { name: 'setup', resources: { requests: { cpu: '2' } } },
      ],
      ...more.spec,
    },
    status: { phase: 'Running', podIP: '10.0.0.1', ...more.status },
  }
}

function node(name: string): Node {
  const allocatable = { cpu: '8', memory: '16Gi', pods: '110' }
  const conditions = [
    { type: 'MemoryPressure', status: 'False', message: 'enough' },
    { type: 'Ready', status: 'True', message: 'it is', lastHeartbeatTime: '2026-01-01T00:00:00Z' },
  ]
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: name, resourceVersion: '1', labels: { branch: name } },
    status: { allocatable, conditions, images: [{ names: ['a'] }] },
  }
}

const models = [{ grade: 0, ranges: [{ name: 'cpu', min: '0', max: '4' }] }]

test('slimmed pods and nodes give the same facts about the cluster as the whole ones', () => {
  const nodes = [node('n1'), node('n2')]
  const pods = [
    ...Array.from({ length: 5 }, (_, index) => pod(index)),
    pod(5, { spec: { nodeName: '', containers: [], overhead: { cpu: '10m' } } }),
    pod(6, { status: { phase: 'Succeeded' } }),
  ]
  const slimmer = createSlimmer()
  const [slimNodes, slimPods] = [nodes.map(slimmer.node), pods.map(slimmer.pod)]
  assert.deepEqual(nodeSummaryOf(slimNodes), nodeSummaryOf(nodes))
  assert.deepEqual(resourceSummaryOf(slimNodes, slimPods), resourceSummaryOf(nodes, pods))
  assert.deepEqual(
    allocatableModelings(models, slimNodes, slimPods),
    allocatableModelings(models, nodes, pods),
  )
})

test('groups keep the labels that they select by, and learn of deletions', () => {
  const slimmer = createSlimmer()
  const going = pod(1, {
    spec: { containers: [], nodeSelector: { [groupLabel]: 'a', disk: 'ssd' } },
  })
  going.metadata.deletionTimestamp = '2026-01-01T00:00:00Z'
  const kept = slimmer.pod(going)
  assert.deepEqual(kept.spec?.nodeSelector, { [groupLabel]: 'a' })
  assert.deepEqual(kept.metadata, {
    name: 'web-1',
    namespace: 'shop',
    uid: 'uid-1',
    resourceVersion: '1',
    deletionTimestamp: '2026-01-01T00:00:00Z',
  })
  assert.deepEqual(slimmer.node(node('n1')).metadata.labels, { branch: 'n1' })
})

test('pods of one Deployment, and nodes of one sort, share their common parts in memory', () => {
  const { pod: slimPod, node: slimNode } = createSlimmer()
  const [a, b] = [slimPod(pod(1)), slimPod(pod(2))]
  assert.equal(a.spec?.containers, b.spec?.containers)
  assert.equal(a.status, b.status)
  const [c, d] = [slimNode(node('n1')), slimNode(node('n2'))]
  assert.equal(c.status?.allocatable, d.status?.allocatable)
  assert.equal(c.status?.conditions, d.status?.conditions)
})
