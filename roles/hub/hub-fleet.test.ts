/** A policy on a hub reaches the objects of two clusters through their own agents. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deployment } from '@skerry/api'
import { createCluster, resources, type ClusterClient } from '@skerry/client'
import { appliesWorksAnnotation, clusterResource } from '@skerry/fleet-kinds'
import { propagationPolicyResource, resourceBindingResource } from '@skerry/karmada-kinds'
import {
  startTestAgent,
  startTestEdge,
  startTestHub,
  untilCluster,
} from '../../testing/scenes/test-fleet.ts'

const soon = (): AbortSignal => AbortSignal.timeout(90_000)
const web = { namespace: 'default', name: 'web' }

const deployment: Deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: web,
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'web' }] },
    },
  },
}

/** Resolves as soon as the Deployment is there, or is not. */
async function untilWeb(api: ClusterClient, isThere: boolean): Promise<void> {
  const deployments = api.resource(resources.deployments)
  const request = { namespace: 'default', fieldSelector: 'metadata.name=web' }
  const { items, metadata } = await deployments.list(request, soon())
  if (items.length > 0 === isThere) return
  const { resourceVersion = '' } = metadata
  for await (const event of deployments.watch({ ...request, resourceVersion }, soon())) {
    if (event.type !== 'BOOKMARK' && (event.type !== 'DELETED') === isThere) return
  }
}

test('a policy sends an object to each cluster that accepts it, and deleting the object deletes it there', async () => {
  await using fleet = await startTestHub()
  const { admin, context } = fleet
  await using reefEdge = await startTestEdge({ appliesWorks: true })
  await using shoreEdge = await startTestEdge()
  const reef = { name: 'reef', api: reefEdge.api, appliesWorks: true }
  await using _reef = await startTestAgent(fleet, reef)
  await using _shore = await startTestAgent(fleet, { name: 'shore', api: shoreEdge.api })
  for (const name of ['reef', 'shore']) {
    await untilCluster(fleet, name, ({ Ready }) => Ready === 'True')
  }
  const { metadata } = await admin.resource(clusterResource).get({ name: 'shore' }, soon())
  assert.equal(metadata.annotations?.[appliesWorksAnnotation], 'false')
  await admin.resource(resources.deployments).create(deployment, soon())
  await admin.resource(propagationPolicyResource).create(
    {
      apiVersion: 'policy.karmada.io/v1alpha1',
      kind: 'PropagationPolicy',
      metadata: web,
      spec: { resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment' }] },
    },
    soon(),
  )
  const local = createCluster(reefEdge.transport, { ...context, userAgent: 'test' })
  await untilWeb(local, true)
  const key = { namespace: 'default', name: 'web-deployment' }
  const { spec } = await admin.resource(resourceBindingResource).get(key, soon())
  assert.deepEqual(spec.clusters, [{ name: 'reef', replicas: 1 }])
  await admin.resource(resources.deployments).delete(web, soon())
  await untilWeb(local, false)
})
