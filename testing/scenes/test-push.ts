/** Clusters in push mode for tests, registered as `karmadactl join` does it. */
import type { Secret } from '@skerry/api'
import { createCluster, readBody, resources, type ClusterClient } from '@skerry/client'
import { clusterResource, type Cluster, type ClusterSpec } from '@skerry/fleet-kinds'
import { propagationPolicyResource, resourceBindingResource } from '@skerry/karmada-kinds'
import type { TestApiServer } from '../test-api-server.ts'
import type { TestHub } from './test-fleet.ts'
import { untilObject } from '../until-object.ts'

const signal = AbortSignal.timeout(120_000)
export const space = { namespace: 'karmada-cluster' }
export const rbac = 'rbac.authorization.k8s.io'

export function clientOf(member: TestApiServer, { context }: TestHub): ClusterClient {
  return createCluster(member.transport, { ...context, userAgent: 'test' })
}

async function accountToken(edge: ClusterClient, name: string): Promise<string> {
  const metadata = { ...space, name }
  const accounts = edge.resource(resources.serviceAccounts)
  await accounts.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata }, signal)
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
  const request = { ...metadata, subresource: 'token', body }
  const answer = await accounts.createSubresource(request, signal)
  return Object(answer['status']).token
}

/**
 * Creates the accounts that join makes at the cluster: one that may do everything, and one without rights
 * yet.
 */
async function memberTokens(edge: ClusterClient) {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: space.namespace } }
  await edge.resource(resources.namespaces).create(namespace, signal)
  const apiVersion = `${rbac}/v1`
  const metadata = { name: 'karmada-controller-manager:karmada-shop' }
  const rules = [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    { verbs: ['get'], nonResourceURLs: ['*'] },
  ]
  const role = { apiVersion, kind: 'ClusterRole', metadata, rules }
  await edge.resource(resources.clusterRoles).create(role, signal)
  const roleRef = { apiGroup: rbac, kind: 'ClusterRole', name: metadata.name }
  const subjects = [{ kind: 'ServiceAccount', ...space, name: 'karmada-shop' }]
  const binding = { apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef, subjects }
  await edge.resource(resources.clusterRoleBindings).create(binding, signal)
  return {
    token: await accountToken(edge, 'karmada-shop'),
    impersonatorToken: await accountToken(edge, 'karmada-impersonator'),
  }
}

export function clusterOf(name: string, spec: Partial<ClusterSpec>): Cluster {
  return {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name },
    spec: { syncMode: 'Push', secretRef: { ...space, name }, ...spec },
  }
}

export function secretOf(name: string, stringData: Record<string, string>): Secret {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { ...space, name }, stringData }
}

/** Joins as karmadactl does: creates both Secrets and the Cluster, and makes the Cluster own the Secrets. */
export async function joinCluster(
  fleet: TestHub,
  member: TestApiServer,
  edge: ClusterClient,
  { name = 'shop', ...more }: Partial<ClusterSpec> & { name?: string } = {},
): Promise<void> {
  const { token, impersonatorToken } = await memberTokens(edge)
  const secrets = fleet.admin.resource(resources.secrets)
  const caBundle = member.credentials.ca
  const kubeSystem = await edge.resource(resources.namespaces).get({ name: 'kube-system' }, signal)
  const impersonatorSecretRef = { ...space, name: `${name}-impersonator` }
  await secrets.create(secretOf(impersonatorSecretRef.name, { token: impersonatorToken }), signal)
  await secrets.create(secretOf(name, { token, caBundle }), signal)
  const id = kubeSystem.metadata.uid ?? ''
  const spec = { id, apiEndpoint: member.url, impersonatorSecretRef, ...more }
  const { metadata, apiVersion, kind } = await fleet.admin
    .resource(clusterResource)
    .create(clusterOf(name, spec), signal)
  const owner = { apiVersion, kind, name, uid: metadata.uid, controller: true }
  const patch = { metadata: { ownerReferences: [owner] } }
  for (const secret of [name, impersonatorSecretRef.name]) {
    await secrets.patch({ ...space, name: secret, type: 'merge', patch }, signal)
  }
}

export function readyOf(cluster: Cluster | undefined) {
  return cluster?.status?.conditions?.find(({ type }) => type === 'Ready')
}

export async function ask(
  api: ClusterClient,
  path: string,
  as?: string,
): Promise<{ status: number; text: string }> {
  const headers: Record<string, string> = as === undefined ? {} : { 'impersonate-user': as }
  const answer = await api.raw({ method: 'GET', path, headers }, signal)
  return { status: answer.status, text: (await readBody(answer.body)).toString('utf8') }
}

/** A ConfigMap, by a policy, until the hub knows that it is there. */
export async function placeAtShop(
  admin: ClusterClient,
  made: { namespace: string; name: string },
): Promise<void> {
  const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: made, data: { till: '7' } }
  await admin.resource(resources.configMaps).create(manifest, signal)
  const policy = {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'PropagationPolicy',
    metadata: made,
    spec: {
      resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap', name: made.name }],
      placement: { clusterAffinity: { clusterNames: ['shop'] } },
    },
  }
  await admin.resource(propagationPolicyResource).create(policy, signal)
  const binding = { ...made, name: `${made.name}-configmap` }
  await untilObject(
    admin,
    { resource: resourceBindingResource, key: binding },
    (each) =>
      (each?.status?.aggregatedStatus ?? []).some(
        ({ clusterName, applied }) => clusterName === 'shop' && applied === true,
      ),
    signal,
  )
}

/** Waits for the right to impersonate users, which follows a moment after the cluster is ready. */
export async function untilReachable(edge: ClusterClient): Promise<void> {
  const name = 'skerry-hub-impersonator'
  await untilObject(
    edge,
    { resource: resources.clusterRoleBindings, key: { name } },
    (binding) => binding !== undefined,
    signal,
  )
}
