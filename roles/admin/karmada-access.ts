import { isStatusError, type AnyObject, type TokenRequest } from '@skerry/api'
import { ExpectedError, exitCodes } from '@skerry/base'
import { resources, type ClusterClient } from '@skerry/client'
import { clusterNamespace, clusterResource } from '@skerry/fleet-kinds'
import { delegatesResource } from '@skerry/gateway'

export interface KarmadaAccessOptions {
  /** The name at the hub, and also at Karmada. */
  readonly name: string
  /** The hub's URL https://host:port, as Karmada dials it. */
  readonly server: string
  readonly caPem: string
  readonly ttlSeconds: number
  readonly syncMode: 'Pull' | 'Push'
}

interface Account {
  readonly name: string
  readonly rules: { resources: string[]; verbs: string[] }
}

const rbac = 'rbac.authorization.k8s.io'

/** Returns the account with which Karmada itself asks, and the one with which it names the asking user. */
export function karmadaAccounts(cluster: string): { own: Account; impersonator: Account } {
  const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection']
  return {
    own: { name: `karmada-${cluster}`, rules: { resources: ['clusters/proxy'], verbs } },
    impersonator: {
      name: `karmada-${cluster}-impersonator`,
      rules: { resources: [delegatesResource], verbs: ['impersonate'] },
    },
  }
}

/**
 * Returns the objects to apply at Karmada so that it reaches a cluster through its hub. Creates two accounts
 * on the hub that reach only this cluster, if they do not exist. Throws ExpectedError if the hub does not
 * know the cluster.
 */
export async function createKarmadaAccess(
  hub: ClusterClient,
  options: KarmadaAccessOptions,
  signal: AbortSignal,
): Promise<AnyObject[]> {
  const { name, server, caPem, syncMode } = options
  const known = await hub.resource(clusterResource).get({ name }, signal).catch(nothing)
  if (known === undefined) {
    throw new ExpectedError(
      `Cannot let Karmada reach cluster "${name}": the hub has none; register it first with "skerry cluster join-command ${name}"`,
      exitCodes.usage,
    )
  }
  const { own, impersonator } = karmadaAccounts(name)
  const token = await accountToken(hub, own, options, signal)
  const impersonatorToken = await accountToken(hub, impersonator, options, signal)
  const secretRef = { namespace: clusterNamespace, name }
  const impersonatorSecretRef = { namespace: clusterNamespace, name: `${name}-impersonator` }
  return [
    secret(secretRef.name, { caBundle: caPem, token }),
    secret(impersonatorSecretRef.name, { token: impersonatorToken }),
    {
      apiVersion: 'cluster.karmada.io/v1alpha1',
      kind: 'Cluster',
      metadata: { name },
      spec: {
        id: known.spec.id ?? '',
        syncMode,
        apiEndpoint: `${server.replace(/\/$/, '')}/clusters/${name}`,
        secretRef,
        impersonatorSecretRef,
      },
    },
  ]
}

/** Voids every token that was given to Karmada for the cluster, by deleting its accounts. */
export async function deleteKarmadaAccess(
  hub: ClusterClient,
  cluster: string,
  signal: AbortSignal,
): Promise<void> {
  for (const { name } of Object.values(karmadaAccounts(cluster))) {
    const key = { namespace: clusterNamespace, name }
    await hub.resource(resources.serviceAccounts).delete(key, signal).catch(nothing)
    await hub
      .resource(resources.clusterRoleBindings)
      .delete({ name: roleName(name) }, signal)
      .catch(nothing)
    await hub
      .resource(resources.clusterRoles)
      .delete({ name: roleName(name) }, signal)
      .catch(nothing)
  }
}

async function accountToken(
  hub: ClusterClient,
  { name, rules }: Account,
  { name: cluster, ttlSeconds }: KarmadaAccessOptions,
  signal: AbortSignal,
): Promise<string> {
  const account = { namespace: clusterNamespace, name }
  const role = { name: roleName(name) }
  await hub
    .resource(resources.serviceAccounts)
    .create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: account }, signal)
    .catch(isThere)
  await hub
    .resource(resources.clusterRoles)
    .create(
      {
        apiVersion: `${rbac}/v1`,
        kind: 'ClusterRole',
        metadata: role,
        rules: [{ ...rules, apiGroups: [clusterResource.group], resourceNames: [cluster] }],
      },
      signal,
    )
    .catch(isThere)
  await hub
    .resource(resources.clusterRoleBindings)
    .create(
      {
        apiVersion: `${rbac}/v1`,
        kind: 'ClusterRoleBinding',
        metadata: role,
        roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role.name },
        subjects: [{ kind: 'ServiceAccount', ...account }],
      },
      signal,
    )
    .catch(isThere)
  const body: TokenRequest = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: {},
    spec: { expirationSeconds: ttlSeconds, audiences: [] },
  }
  const answer = await hub
    .resource(resources.serviceAccounts)
    .createSubresource({ ...account, subresource: 'token', body }, signal)
  return tokenOf(answer)
}

function tokenOf({ status }: AnyObject): string {
  const isFilled = typeof status === 'object' && status !== null && 'token' in status
  if (isFilled && typeof status.token === 'string') return status.token
  throw new TypeError('Cannot read token: the answer has none')
}

function roleName(account: string): string {
  return `skerry:${account}`
}

function secret(name: string, texts: Readonly<Record<string, string>>): AnyObject {
  const data = Object.entries(texts).map(([key, text]) => [
    key,
    Buffer.from(text).toString('base64'),
  ])
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: clusterNamespace, name },
    data: Object.fromEntries(data),
  }
}

function isThere(error: unknown): void {
  if (!isStatusError(error, 'AlreadyExists')) throw error
}

function nothing(error: unknown): undefined {
  if (!isStatusError(error, 'NotFound')) throw error
}
