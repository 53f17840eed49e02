import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject, CustomResourceDefinition } from '@skerry/api'
import { linkedSignal, runAll, silentLogger, systemClock, systemRandom } from '@skerry/base'
import {
  createCluster,
  createEventSink,
  resources,
  type ClusterClient,
  type TypedResource,
} from '@skerry/client'
import { createInformerSet, runController } from '@skerry/controller-runtime'
import { startTestApiServer, untilObject } from '@skerry/testing'
import {
  conditionOf,
  virtualClusterCrds,
  goneSinceAnnotation,
  virtualClusterResource,
  virtualClusterSetResource,
  type VirtualCluster,
} from '@skerry/fleet-kinds'
import { GroupState } from './group-state.ts'
import { virtualClusterSetController } from './virtual-cluster-set-controller.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'test' }
const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const definitions = resources.customResourceDefinitions

async function define(api: ClusterClient, definition: AnyObject): Promise<void> {
  const { name = '' } = definition.metadata
  const request = { name, type: 'apply', patch: definition, fieldManager: 'test' } as const
  await api.resource(definitions).patch(request, soon())
  await untilObject(
    api,
    { resource: definitions, key: { name } },
    (found) => isEstablished(found),
    soon(),
  )
}

function isEstablished(found: CustomResourceDefinition | undefined): boolean {
  return (found?.status?.conditions ?? []).some(
    ({ type, status }) => type === 'Established' && status === 'True',
  )
}

const nodePools: AnyObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'nodepools.apps.openyurt.io' },
  spec: {
    group: 'apps.openyurt.io',
    scope: 'Cluster',
    names: {
      plural: 'nodepools',
      singular: 'nodepool',
      kind: 'NodePool',
      listKind: 'NodePoolList',
    },
    versions: [
      {
        name: 'v1beta1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    ],
  },
}

const poolResource: TypedResource<AnyObject> = {
  group: 'apps.openyurt.io',
  version: 'v1beta1',
  resource: 'nodepools',
  isNamespaced: false,
}

function pool(name: string): AnyObject {
  return { apiVersion: 'apps.openyurt.io/v1beta1', kind: 'NodePool', metadata: { name } }
}

async function startWithPools(spec: object): Promise<{ api: ClusterClient } & AsyncDisposable> {
  const server = await startTestApiServer()
  const api = createCluster(server.transport, deps)
  for (const each of virtualClusterCrds) await define(api, each)
  const set = {
    apiVersion: 'edge.skerry.io/v1alpha1',
    kind: 'VirtualClusterSet',
    metadata: { name: 'pools' },
    spec: { source: { nodePools: {} }, ...spec },
  }
  await api.resource(virtualClusterSetResource).create(set, soon())
  return { api, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

/** Runs the controller until it is disposed of. */
function follow(api: ClusterClient): AsyncDisposable {
  const informers = createInformerSet(api, deps)
  const virtualClusters = informers.informer(virtualClusterResource)
  const state = new GroupState('bank', virtualClusters, informers.informer(resources.nodes))
  const events = createEventSink(api, deps)
  const controllers = { ...deps, cluster: api, informers, events }
  const stop = linkedSignal(soon())
  const running = runAll(stop.signal, [
    (scope) => informers.run(scope),
    (scope) => events.run(scope),
    (scope) => runController(virtualClusterSetController(state), controllers, scope),
  ])
  return {
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the test is over'))
      await running
    },
  }
}

function goneSince(found: VirtualCluster | undefined): string | undefined {
  return found?.metadata.annotations?.[goneSinceAnnotation]
}

test('groups of another system become virtual clusters once it is there, and go with it', async () => {
  await using scene = await startWithPools({ gracePeriodSeconds: 0 })
  const { api } = scene
  await using _following = follow(api)
  await untilObject(
    api,
    { resource: virtualClusterSetResource, key: { name: 'pools' } },
    (found) =>
      /has no kind nodepools.apps.openyurt.io/.test(
        conditionOf(found?.status?.conditions, 'SourceFound')?.message ?? '',
      ),
    soon(),
  )
  await define(api, nodePools)
  await api.resource(poolResource).create(pool('east'), soon())
  await untilObject(
    api,
    { resource: virtualClusterResource, key: { name: 'east' } },
    (found) => found !== undefined,
    soon(),
  )
  const { spec } = await api.resource(virtualClusterResource).get({ name: 'east' }, soon())
  assert.deepEqual(spec, {
    nodeSelector: { matchLabels: { 'apps.openyurt.io/nodepool': 'east' } },
  })
  await api.resource(poolResource).delete({ name: 'east' }, soon())
  await untilObject(
    api,
    { resource: virtualClusterResource, key: { name: 'east' } },
    (found) => found === undefined,
    soon(),
  )
})

test('a virtual cluster outlives its group for a while, and goes even if the agent was away', async () => {
  await using scene = await startWithPools({})
  const { api } = scene
  await define(api, nodePools)
  const pools = api.resource(poolResource)
  const virtualClusters = api.resource(virtualClusterResource)
  await pools.create(pool('east'), soon())
  {
    await using _following = follow(api)
    await untilObject(
      api,
      { resource: virtualClusterResource, key: { name: 'east' } },
      (found) => found !== undefined,
      soon(),
    )
    const { metadata } = await virtualClusters.get({ name: 'east' }, soon())
    await pools.delete({ name: 'east' }, soon())
    await untilObject(
      api,
      { resource: virtualClusterSetResource, key: { name: 'pools' } },
      (found) => /^group "east" is gone: .* goes at /.test(found?.status?.problems?.[0] ?? ''),
      soon(),
    )
    assert.ok(goneSince(await virtualClusters.get({ name: 'east' }, soon())))
    await pools.create(pool('east'), soon())
    await untilObject(
      api,
      { resource: virtualClusterSetResource, key: { name: 'pools' } },
      (found) => !found?.status?.problems,
      soon(),
    )
    const back = await virtualClusters.get({ name: 'east' }, soon())
    assert.deepEqual([back.metadata.uid, goneSince(back)], [metadata.uid, undefined])
    await pools.delete({ name: 'east' }, soon())
    await untilObject(
      api,
      { resource: virtualClusterResource, key: { name: 'east' } },
      (found) => goneSince(found) !== undefined,
      soon(),
    )
  }
  const annotations = { [goneSinceAnnotation]: '2026-01-01T00:00:00Z' }
  const patch = { metadata: { annotations } }
  await virtualClusters.patch({ name: 'east', type: 'merge', patch }, soon())
  await using _following = follow(api)
  await untilObject(
    api,
    { resource: virtualClusterResource, key: { name: 'east' } },
    (found) => found === undefined,
    soon(),
  )
})
