import type { AnyObject } from '@skerry/api'
import type { RawClient } from '../../processes/raw-client.ts'
import { expectSent } from '../fleet/watched-objects.ts'
import { deployment } from '../fleet/propagation.ts'

const namespace = '/namespaces/default'
const deployments = `/apis/apps/v1${namespace}/deployments`
const policies = `/apis/policy.karmada.io/v1alpha1${namespace}/propagationpolicies`
/** The content of a ConfigMap: a small file of settings. */
const settings = 'key=value\n'.repeat(100)
const waves = { 'hub.skerry.io/waves': '1%; 10%; 50%' }

/** Creates a Deployment and the policy that sends it to all clusters, in waves when it changes. */
export async function placeDeployment(client: RawClient, name: string): Promise<void> {
  await expectSent(client, 'POST', deployments, deployment(name, 1))
  await expectSent(client, 'POST', policies, policy(name, 'Deployment', [name], waves))
}

export async function changeImage(client: RawClient, name: string, image: string): Promise<void> {
  const containers = [{ name: 'web', image }]
  const patch = { spec: { template: { spec: { containers } } } }
  await expectSent(client, 'PATCH', `${deployments}/${name}`, patch)
}

/** Creates ConfigMaps, and one policy that sends all of them to all clusters. */
export async function placeConfigMaps(client: RawClient, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await expectSent(client, 'POST', `/api/v1${namespace}/configmaps`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      data: { settings },
    })
  }
  await expectSent(client, 'POST', policies, policy('settings', 'ConfigMap', names))
}

/** Returns how many replicas the Deployment's own status counts: the sum of those of all clusters. */
export async function readyReplicas(client: RawClient, name: string): Promise<number> {
  const { body } = await client.get(`${deployments}/${name}`)
  // The path is that of a Deployment.
  const { status } = JSON.parse(body.toString()) as { status?: { readyReplicas?: number } }
  return status?.readyReplicas ?? 0
}

/** Returns how many Clusters are ready. */
export async function readyClusters(client: RawClient): Promise<number> {
  const { body } = await client.get('/apis/cluster.karmada.io/v1alpha1/clusters')
  // The path is that of Clusters.
  const { items } = JSON.parse(body.toString()) as { items: ListedCluster[] }
  return items.filter(({ status }) =>
    status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True'),
  ).length
}

interface ListedCluster {
  readonly status?: { readonly conditions?: readonly { type: string; status: string }[] }
}

function policy(
  name: string,
  kind: 'Deployment' | 'ConfigMap',
  names: readonly string[],
  annotations: Readonly<Record<string, string>> = {},
): AnyObject {
  const apiVersion = kind === 'Deployment' ? 'apps/v1' : 'v1'
  return {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'PropagationPolicy',
    metadata: { name, namespace: 'default', annotations },
    spec: {
      resourceSelectors: names.map((each) => ({ apiVersion, kind, name: each })),
      placement: { clusterAffinity: {} },
    },
  }
}
