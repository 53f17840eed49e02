import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtinKinds } from '@skerry/kinds'
import type { ConfigMap } from '@skerry/api'
import { linkedSignal, runAll, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { createCluster, resources } from '@skerry/client'
import { startTestApiServer } from '@skerry/testing'
import { clusterKind, clusterResource, executionNamespace } from '@skerry/fleet-kinds'
import { karmadaKinds, workResource } from '@skerry/karmada-kinds'
import { customizationResource } from '../../interpreter/custom/customization.ts'
import { runWorks } from './run-works.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'test' }
const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const namespace = executionNamespace('shop')

test('a customization on the hub decides what an agent keeps and reports of a kind', async () => {
  const kinds = await builtinKinds()
  const served = [...kinds, clusterKind(kinds), ...(await karmadaKinds(kinds))]
  await using hubServer = await startTestApiServer({ kinds: served, namespaces: [namespace] })
  await using edgeServer = await startTestApiServer({ namespaces: ['default'] })
  const hub = createCluster(hubServer.transport, deps)
  const edge = createCluster(edgeServer.transport, deps)
  await hub.resource(customizationResource).create(
    {
      apiVersion: 'config.karmada.io/v1alpha1',
      kind: 'ResourceInterpreterCustomization',
      metadata: { name: 'settings' },
      spec: {
        target: { apiVersion: 'v1', kind: 'ConfigMap' },
        customizations: {
          retention: {
            luaScript: 'function Retain(d, o) d.data.till = o.data.till return d end',
          },
          healthInterpretation: {
            luaScript: 'function InterpretHealth(o) return o.data.till == "open" end',
          },
          statusReflection: {
            luaScript: 'function ReflectStatus(o) return { till = o.data.till } end',
          },
        },
      },
    },
    soon(),
  )
  await hub.resource(clusterResource).create(
    {
      apiVersion: 'cluster.karmada.io/v1alpha1',
      kind: 'Cluster',
      metadata: { name: 'shop' },
      spec: { syncMode: 'Pull', id: 'u' },
    },
    soon(),
  )
  const ready = {
    type: 'Ready',
    status: 'True',
    reason: 'Test',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }
  const patch = { status: { conditions: [ready] } }
  await hub.resource(clusterResource).patchStatus({ name: 'shop', type: 'merge', patch }, soon())
  const settings = { apiVersion: 'v1', kind: 'ConfigMap' }
  const metadata = {
    namespace: 'default',
    name: 'settings',
    labels: { 'karmada.io/managed': 'true' },
  }
  const configMaps = edge.resource(resources.configMaps)
  await configMaps.create({ ...settings, metadata, data: { till: 'open' } } as ConfigMap, soon())
  await using stack = new AsyncDisposableStack()
  const stop = linkedSignal(soon())
  const running = runAll(stop.signal, [
    (scope) => runWorks({ clusterName: 'shop' }, { ...deps, hub, local: edge }, scope),
  ])
  stack.defer(async () => {
    stop.abort(new Error('the test is over'))
    await running
  })
  const manifest = { ...settings, metadata, data: { colour: 'green' } }
  await hub.resource(workResource).create(
    {
      apiVersion: 'work.karmada.io/v1alpha1',
      kind: 'Work',
      metadata: { namespace, name: 'settings' },
      spec: { workload: { manifests: [manifest] } },
    },
    soon(),
  )
  const [told] = await manifestStatuses()
  assert.deepEqual([told?.status, told?.health], [{ till: 'open' }, 'Healthy'])
  const applied = await configMaps.get({ namespace: 'default', name: 'settings' }, soon())
  assert.deepEqual(applied.data, { colour: 'green', till: 'open' })

  async function manifestStatuses() {
    const works = hub.resource(workResource)
    for await (const event of works.watch({ namespace, resourceVersion: '0' }, soon())) {
      if (event.type !== 'ADDED' && event.type !== 'MODIFIED') continue
      const statuses = event.object.status?.manifestStatuses
      if (statuses) return statuses
    }
    return []
  }
})
