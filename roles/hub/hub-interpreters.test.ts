/** A script on the hub interprets a kind at the hub, and at an edge through the edge's own agent. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConfigMap } from '@skerry/api'
import { createCluster, resources } from '@skerry/client'
import { propagationPolicyResource } from '@skerry/karmada-kinds'
import { customizationResource } from '../../packages/interpreter/custom/customization.ts'
import {
  startTestAgent,
  startTestEdge,
  startTestHub,
  untilCluster,
} from '../../testing/scenes/test-fleet.ts'

const soon = (): AbortSignal => AbortSignal.timeout(90_000)
const settings = { namespace: 'default', name: 'settings' }

/** The site's own setting stays, and the Secret that the settings name is sent along. */
const scripts = {
  retention: 'function Retain(d, o) d.data.site = o.data.site return d end',
  dependencyInterpretation: `function GetDependencies(o)
    return {{ apiVersion = "v1", kind = "Secret", namespace = o.metadata.namespace, name = o.data.secret }}
  end`,
}

test('a script on the hub decides which fields an edge keeps, and which objects go along', async () => {
  await using fleet = await startTestHub()
  const { admin, context } = fleet
  await using edge = await startTestEdge({ appliesWorks: true })
  await using _agent = await startTestAgent(fleet, {
    name: 'reef',
    api: edge.api,
    appliesWorks: true,
  })
  await untilCluster(fleet, 'reef', ({ Ready }) => Ready === 'True')
  const customizations = Object.fromEntries(
    Object.entries(scripts).map(([rule, luaScript]) => [rule, { luaScript }]),
  )
  await admin.resource(customizationResource).create(
    {
      apiVersion: 'config.karmada.io/v1alpha1',
      kind: 'ResourceInterpreterCustomization',
      metadata: { name: 'settings' },
      spec: { target: { apiVersion: 'v1', kind: 'ConfigMap' }, customizations },
    },
    soon(),
  )
  const local = createCluster(edge.transport, { ...context, userAgent: 'test' })
  const wanted: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: settings }
  await local.resource(resources.configMaps).create(
    {
      ...wanted,
      metadata: { ...settings, labels: { 'karmada.io/managed': 'true' } },
      data: { site: 'reef' },
    },
    soon(),
  )
  await admin
    .resource(resources.secrets)
    .create({ apiVersion: 'v1', kind: 'Secret', metadata: { ...settings, name: 'login' } }, soon())
  await admin
    .resource(resources.configMaps)
    .create({ ...wanted, data: { colour: 'green', secret: 'login' } }, soon())
  await admin.resource(propagationPolicyResource).create(
    {
      apiVersion: 'policy.karmada.io/v1alpha1',
      kind: 'PropagationPolicy',
      metadata: settings,
      spec: {
        resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'settings' }],
        propagateDeps: true,
      },
    },
    soon(),
  )
  const secrets = local.resource(resources.secrets)
  for await (const event of secrets.watch({ namespace: 'default' }, soon())) {
    if (event.type === 'ADDED' && event.object.metadata.name === 'login') break
  }
  const configMaps = local.resource(resources.configMaps)
  for await (const event of configMaps.watch({ namespace: 'default' }, soon())) {
    if (event.type !== 'ADDED' && event.type !== 'MODIFIED') continue
    if (event.object.data?.['colour'] === undefined) continue
    assert.deepEqual(event.object.data, { colour: 'green', secret: 'login', site: 'reef' })
    break
  }
})
