/** The hub's Works for a cluster reach it through the cluster's own agent, with the agent's own rights. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Duplex } from 'node:stream'
import type { AnyObject } from '@skerry/api'
import { connectByTcp, systemClock } from '@skerry/base'
import { createCluster, resources, type ClusterClient } from '@skerry/client'
import { clusterNamespace, clusterResource, executionNamespace } from '@skerry/fleet-kinds'
import { workResource, type Work } from '@skerry/karmada-kinds'
import { until } from '@skerry/testing'
import {
  startTestAgent,
  startTestEdge,
  startTestHub,
  untilCluster,
  type TestHub,
} from '../../testing/scenes/test-fleet.ts'
import { ensureAgentObjects } from '../site/objects/agent-objects.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const namespace = executionNamespace('shop')
const workKey = { namespace, name: 'staff' }

function work(...manifests: AnyObject[]): Work {
  return {
    apiVersion: 'work.karmada.io/v1alpha1',
    kind: 'Work',
    metadata: workKey,
    spec: { workload: { manifests } },
  }
}

const space: AnyObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'till' } }
const reader: AnyObject = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'reader' },
  rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['get', 'bind', 'impersonate'] }],
}

/** Waits until the Work has the condition; resolves with its message. */
async function untilApplied({ admin }: TestHub, wanted: string): Promise<string> {
  const works = admin.resource(workResource)
  const { items, metadata } = await works.list({ namespace }, soon())
  const found = (object: Work | undefined) =>
    object?.status?.conditions?.find(({ type, status }) => type === 'Applied' && status === wanted)
  const first = found(items[0])
  if (first) return first.message
  const { resourceVersion = '' } = metadata
  for await (const event of works.watch({ namespace, resourceVersion }, soon())) {
    const told = event.type === 'BOOKMARK' ? undefined : found(event.object)
    if (told) return told.message
  }
  throw new Error('Cannot wait for the Work: the watch has ended')
}

async function readyFleet(fleet: TestHub): Promise<void> {
  await untilCluster(fleet, 'shop', ({ Ready }) => Ready === 'True')
}

async function untilGone(api: ClusterClient, name: string): Promise<void> {
  const clusters = api.resource(clusterResource)
  const { items, metadata } = await clusters.list({}, soon())
  if (items.length === 0) return
  const request = { resourceVersion: metadata.resourceVersion ?? '' }
  for await (const event of clusters.watch(request, soon())) {
    if (event.type === 'DELETED' && event.object.metadata.name === name) return
  }
}

test("an agent that is configured to applies the hub's objects for its cluster, including roles", async () => {
  await using fleet = await startTestHub()
  await using edge = await startTestEdge({ appliesWorks: true })
  await using _agent = await startTestAgent(fleet, {
    name: 'shop',
    api: edge.api,
    appliesWorks: true,
  })
  await readyFleet(fleet)
  await fleet.admin.resource(workResource).create(work(space, reader), soon())
  const message = await untilApplied(fleet, 'True')
  assert.equal(message, 'Manifest has been successfully applied')
  const local = createCluster(edge.transport, { ...fleet.context, userAgent: 'test' })
  const made = await local.resource(resources.namespaces).get({ name: 'till' }, soon())
  assert.equal(made.metadata.annotations?.['work.karmada.io/namespace'], namespace)
  await local.resource(resources.clusterRoles).get({ name: 'reader' }, soon())
})

test('reports and Works take the tunnel, so that a hub has one connection for each site', async () => {
  await using fleet = await startTestHub()
  await using edge = await startTestEdge({ appliesWorks: true })
  const dial = connectByTcp({ timeoutMs: 10_000, clock: systemClock })
  const open = new Set<Duplex>()
  await using _agent = await startTestAgent(fleet, {
    name: 'shop',
    api: edge.api,
    appliesWorks: true,
    async connect(to, signal) {
      const socket = await dial(to, signal)
      open.add(socket)
      socket.once('close', () => open.delete(socket))
      return socket
    },
  })
  await readyFleet(fleet)
  await fleet.admin.resource(workResource).create(work(space), soon())
  await untilApplied(fleet, 'True')
  // Those of the registration end by themselves.
  await until(async () => open.size <= 1 || undefined, soon())
  const leases = fleet.admin.resource(resources.leases)
  const { spec } = await leases.get({ namespace: clusterNamespace, name: 'shop' }, soon())
  assert.equal(spec?.leaseDurationSeconds, 600)
})

test('an object that an agent may not write is reported at the hub, and a cluster that goes keeps its objects', async () => {
  await using fleet = await startTestHub()
  await using edge = await startTestEdge({ appliesWorks: true })
  const local = createCluster(edge.transport, { ...fleet.context, userAgent: 'test' })
  const agent = await startTestAgent(fleet, { name: 'shop', api: edge.api, appliesWorks: true })
  try {
    await readyFleet(fleet)
    await fleet.admin.resource(workResource).create(work(space), soon())
    await untilApplied(fleet, 'True')
    // An agent without the duty lacks the right.
    await ensureAgentObjects(edge.objects)
    const fresh = await fleet.admin.resource(workResource).get(workKey, soon())
    await fleet.admin
      .resource(workResource)
      .update({ ...fresh, spec: work(space, reader).spec }, soon())
    assert.match(
      await untilApplied(fleet, 'False'),
      /^Failed to apply all manifests \([01]\/2\): .*clusterroles.rbac.authorization.k8s.io .*is forbidden/,
    )
  } finally {
    await agent[Symbol.asyncDispose]()
  }
  await fleet.admin.resource(clusterResource).delete({ name: 'shop' }, soon())
  await untilGone(fleet.admin, 'shop')
  const { items } = await fleet.admin.resource(workResource).list({ namespace }, soon())
  assert.deepEqual(
    items.flatMap(({ metadata }) => metadata.finalizers ?? []),
    [],
  )
  await local.resource(resources.namespaces).get({ name: 'till' }, soon())
})
