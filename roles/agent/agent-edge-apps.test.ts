/** An agent serves applications in groups of nodes in its cluster, with the rights that its manifest gives it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject, PolicyRule } from '@skerry/api'
import { anyObjects, createCluster, resources, type ClusterClient } from '@skerry/client'
import { agentManifest } from '@skerry/membership'
import { until } from '../../testing/mod.ts'
import { startTestAgent, startTestEdge, startTestHub } from '../../testing/scenes/test-fleet.ts'
import { localAgentUser } from '../site/objects/agent-objects.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const namespace = 'default'
const edgeApps = ['superedge']

/** Gives the user of the test's agent the rights of the manifest for `--edge-apps superedge`, and no others. */
async function giveRights(local: ClusterClient): Promise<void> {
  const manifest = agentManifest({
    cluster: 'shop',
    server: 'https://hub:7443',
    caHash: 'sha256:00',
    token: 'none',
    image: 'agent',
    policy: {},
    services: [],
    appliesWorks: false,
    edgeApps,
  })
  const role = manifest.find(({ kind }) => kind === 'ClusterRole')
  // The manifest's ClusterRole has rules.
  const { rules } = (role ?? assert.fail()) as AnyObject & { rules: PolicyRule[] }
  const rbac = 'rbac.authorization.k8s.io'
  const metadata = { name: 'manifest' }
  const made = { apiVersion: `${rbac}/v1`, metadata }
  await local
    .resource(resources.clusterRoles)
    .create({ ...made, kind: 'ClusterRole', rules }, soon())
  await local.resource(resources.clusterRoleBindings).create(
    {
      ...made,
      kind: 'ClusterRoleBinding',
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'manifest' },
      subjects: [{ apiGroup: rbac, kind: 'User', name: localAgentUser }],
    },
    soon(),
  )
}

const grids = anyObjects({
  group: 'superedge.io',
  version: 'v1',
  resource: 'deploymentgrids',
  isNamespaced: true,
})

const grid = {
  apiVersion: 'superedge.io/v1',
  kind: 'DeploymentGrid',
  metadata: { name: 'web', namespace },
  spec: {
    gridUniqKey: 'hall',
    template: {
      replicas: 1,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'c', image: 'nginx:1' }] },
      },
    },
  },
}

const shopService = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'shop', namespace, annotations: { topologyKeys: '["hall"]' } },
  spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
}

test('an agent serves grids in a cluster that is not ours, with the rights of its manifest alone', async () => {
  await using fleet = await startTestHub()
  await using edge = await startTestEdge()
  const local = createCluster(edge.transport, { ...fleet.context, userAgent: 'test' })
  await local
    .resource(resources.namespaces)
    .create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, soon())
    .catch(() => undefined)
  await giveRights(local)
  const labels = { hall: 'a', 'topology.kubernetes.io/zone': 'hall-a' }
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', labels } }
  await local.resource(resources.nodes).create(node, soon())
  await using _agent = await startTestAgent(fleet, { name: 'shop', api: edge.api, edgeApps })
  await until(async () => {
    const { items } = await local.resource(resources.customResourceDefinitions).list({}, soon())
    return (
      items.filter(({ status }) =>
        status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True'),
      ).length === 5
    )
  })
  await local.resource(grids).create(grid, soon())
  await until(async () => {
    const { items } = await local.resource(resources.deployments).list({ namespace }, soon())
    return items.some(({ metadata }) => metadata.name === 'web-a')
  })
  const service = anyObjects(resources.services)
  await local.resource(service).create(shopService, soon())
  await until(async () => {
    const { spec } = await local
      .resource(resources.services)
      .get({ name: 'shop', namespace }, soon())
    return spec?.trafficDistribution === 'PreferSameZone'
  })
  // One agent of a cluster acts: the holder of this Lease.
  const lease = { namespace: 'kube-system', name: 'karmada-agent-shop' }
  const { spec } = await local.resource(resources.leases).get(lease, soon())
  assert.ok(spec?.holderIdentity)
})
