import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '@skerry/api'
import { resources } from '@skerry/client'
import { startEdgeWorld } from '../testing/edge-world.ts'
import { planNode } from '../nodes/node-settings.ts'
import { nodePoolKind } from './node-pool.ts'

const nodePools = nodePoolKind.resource
const joins = 'apps.openyurt.io/nodepool'

test('settings that OpenYurt itself has given a node go with its pool', () => {
  const taint = { key: 'np', value: 'a', effect: 'NoSchedule' }
  const pool = {
    apiVersion: 'apps.openyurt.io/v1beta2',
    kind: 'NodePool',
    metadata: { name: 'pa' },
    spec: { labels: { np: 'a' }, taints: [taint] },
  }
  const previous = JSON.stringify(pool.spec)
  const node: Node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: 'n1',
      labels: { [joins]: 'pa', np: 'a' },
      annotations: { 'nodepool.openyurt.io/previous-attributes': previous },
    },
    spec: { taints: [taint] },
  }
  const { remembersIn, settings } = nodePoolKind
  const taken = planNode(node, settings(node, [pool]), remembersIn)
  assert.deepEqual(taken?.metadata.labels, {})
  const text = taken.metadata.annotations[remembersIn] ?? ''
  const { metadata } = node
  const annotations = { ...metadata.annotations, [remembersIn]: text }
  const left = { ...node, metadata: { ...metadata, annotations } }
  const plan = planNode(left, settings(left, []), remembersIn)
  assert.deepEqual([plan?.metadata.labels, plan?.spec.taints], [{ np: null }, []])
})

test('a pool names its leaders, which stay while they are ready', () => {
  const node = (name: string, status: string, labels: object = {}): Node => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { [joins]: 'pa', ...labels } },
    status: {
      conditions: [{ type: 'Ready', status }],
      addresses: [{ type: 'InternalIP', address: `10.0.0.${name.slice(1)}` }],
    },
  })
  const pool = (spec: object, leaders: readonly string[] = []) => ({
    apiVersion: 'apps.openyurt.io/v1beta2',
    kind: 'NodePool',
    metadata: { name: 'pa' },
    spec: { enableLeaderElection: true, ...spec },
    status: {
      leaderEndpoints: leaders.map((nodeName) => ({
        nodeName,
        address: `10.0.0.${nodeName.slice(1)}`,
      })),
    },
  })
  const nodes = [node('n1', 'True'), node('n2', 'False'), node('n3', 'True', { strong: 'yes' })]
  const table: readonly [spec: object, before: readonly string[], leaders: readonly string[]][] = [
    [{}, [], ['n1']],
    [{ leaderReplicas: 5 }, [], ['n1', 'n3']],
    [{}, ['n3'], ['n3']],
    [{}, ['n2'], ['n1']],
    [{ leaderReplicas: 1 }, ['n3', 'n1'], ['n3']],
    [
      { leaderElectionStrategy: 'mark', leaderNodeLabelSelector: { strong: 'yes' } },
      ['n1'],
      ['n3'],
    ],
  ]
  for (const [spec, before, leaders] of table) {
    const status: { leaderEndpoints?: readonly { nodeName: string }[]; leaderNum?: number } =
      nodePoolKind.status(pool(spec, before), nodes, [])
    const names = status.leaderEndpoints?.map(({ nodeName }) => nodeName)
    assert.deepEqual([names, status.leaderNum], [leaders, leaders.length])
  }
  const without = pool({ enableLeaderElection: false }, ['n1'])
  assert.ok(!('leaderNum' in nodePoolKind.status(without, nodes, [])))
})

test('a node that names a pool gets its settings, and loses them when it names another or the pool goes', async () => {
  await using world = await startEdgeWorld(['openyurt'])
  await world.eventually(resources.customResourceDefinitions, (all) =>
    all.some(({ status }) =>
      status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True'),
    )
      ? true
      : undefined,
  )
  await world.eventually(nodePools, () => true)
  const pool = (name: string, spec: object) =>
    world.create(nodePools, {
      apiVersion: 'apps.openyurt.io/v1beta2',
      kind: 'NodePool',
      metadata: { name },
      spec: { type: 'Edge', ...spec },
    })
  const taint = { key: 'np', value: 'a', effect: 'NoSchedule' }
  await pool('pa', { labels: { np: 'a' }, annotations: { who: 'pa' }, taints: [taint] })
  await pool('pb', { labels: { np: 'b' } })
  await world.node('n1', { [joins]: 'pa' })
  await world.node('n2', { [joins]: 'pa', np: 'own' }, false)
  const labelled = (name: string, np: string | undefined) =>
    world.eventually(resources.nodes, (all) => {
      const found = all.find(({ metadata }) => metadata.name === name)
      return found?.metadata.labels?.['np'] === np ? found : undefined
    })
  const joined = await labelled('n1', 'a')
  assert.deepEqual(joined.spec?.taints, [taint])
  assert.equal(joined.metadata.annotations?.['who'], 'pa')
  const status = await world.eventually(nodePools, (all) => {
    const found = all.find(({ metadata }) => metadata.name === 'pa')?.status
    return found?.nodes?.length === 2 && found.readyNodeNum === 1 ? found : undefined
  })
  assert.deepEqual(status, { readyNodeNum: 1, unreadyNodeNum: 1, nodes: ['n1', 'n2'] })
  await world.patch(resources.nodes, { name: 'n1' }, { metadata: { labels: { [joins]: 'pb' } } })
  const moved = await labelled('n1', 'b')
  assert.deepEqual(moved.spec?.taints ?? [], [])
  assert.equal(moved.metadata.annotations?.['who'], undefined)
  await labelled('n2', 'a')
  await world.cluster.resource(nodePools).delete({ name: 'pa' }, world.signal)
  await labelled('n2', 'own')
})
