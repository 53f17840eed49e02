import { isStatusError, type AnyObject, type KubeObject } from '@skerry/api'
import { resources, type ClusterClient, type ResourceRef } from '@skerry/client'
import {
  agentUserName,
  clusterNamespace,
  clusterResource,
  executionNamespace,
} from '@skerry/fleet-kinds'
import type { PolicyRule } from './impersonation-policy.ts'

const rbac = 'rbac.authorization.k8s.io'
const fieldOwner = 'skerry-agent'

/**
 * Returns our agent's rights at Karmada: only what it needs, which is less than `karmadactl register` gives
 * to Karmada's own agent. The names let `karmadactl unregister` find them.
 */
export function karmadaRights(cluster: string): AnyObject[] {
  const name = rightsName(cluster)
  const es = executionNamespace(cluster)
  return [
    executionSpace(es),
    ...bound('ClusterRole', { name }, { cluster, rules: clusterRules(cluster) }),
    ...bound(
      'Role',
      { name: `${name}-secret`, namespace: clusterNamespace },
      { cluster, rules: leaseRules(cluster) },
    ),
    ...bound('Role', { name: `${name}-work`, namespace: es }, { cluster, rules: workSpaceRules }),
  ]
}

/** Makes them, or corrects those that are there. Rejects as the API server answers. */
export async function writeKarmadaRights(
  hub: ClusterClient,
  cluster: string,
  signal: AbortSignal,
): Promise<void> {
  const apply = (object: AnyObject): Promise<KubeObject> => {
    const { name = '', namespace } = object.metadata
    const key = { name, ...(namespace === undefined ? {} : { namespace }) }
    const request = { ...key, type: 'apply', patch: object, force: true } as const
    return hub.resource(refOf(object)).patch({ ...request, fieldManager: fieldOwner }, signal)
  }
  const objects = karmadaRights(cluster)
  const whole = objects.find((object) => object.kind === 'ClusterRoleBinding')
  const { apiVersion, kind, metadata } = await apply(whole ?? never())
  const owner = { apiVersion, kind, name: metadata.name ?? '', uid: metadata.uid ?? '' }
  for (const object of objects) {
    if (object === whole) continue
    // The namespace belongs to Karmada, and is deleted with the Cluster.
    const owned = { ...object.metadata, ownerReferences: [owner] }
    await apply(object.kind === 'Namespace' ? object : { ...object, metadata: owned })
  }
}

/**
 * Deletes the binding as the agent itself; Karmada's garbage collector then deletes everything it owns.
 * Resolves false if the agent may not, as when somebody else wrote its rights.
 */
export async function deleteKarmadaRights(
  hub: ClusterClient,
  cluster: string,
  signal: AbortSignal,
): Promise<boolean> {
  const bindings = hub.resource(resources.clusterRoleBindings)
  try {
    await bindings.delete({ name: rightsName(cluster) }, signal)
    return true
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return true
    if (isStatusError(error, 'Forbidden')) return false
    throw error
  }
}

function rightsName(cluster: string): string {
  return `system:karmada:${cluster}:agent`
}

function never(): never {
  throw new TypeError('Cannot write rights: they hold no ClusterRoleBinding')
}

function executionSpace(name: string): AnyObject {
  const labels = { 'karmada.io/system': 'true' }
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }
}

function clusterRules(cluster: string): PolicyRule[] {
  const { group } = clusterResource
  return [
    { apiGroups: [group], resources: ['clusters'], verbs: ['create'] },
    {
      apiGroups: [group],
      resources: ['clusters'],
      resourceNames: [cluster],
      verbs: ['get', 'list', 'watch', 'patch', 'delete'],
    },
    {
      apiGroups: [group],
      resources: ['clusters/status'],
      resourceNames: [cluster],
      verbs: ['update', 'patch'],
    },
    {
      apiGroups: ['config.karmada.io'],
      resources: ['resourceinterpretercustomizations', 'resourceinterpreterwebhookconfigurations'],
      verbs: ['get', 'list', 'watch'],
    },
    {
      apiGroups: [''],
      resources: ['namespaces'],
      resourceNames: [executionNamespace(cluster)],
      verbs: ['get'],
    },
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests'],
      verbs: ['get', 'create'],
    },
    // The right to leave: deleting this binding removes all these rights.
    {
      apiGroups: [rbac],
      resources: ['clusterrolebindings'],
      resourceNames: [rightsName(cluster)],
      verbs: ['delete'],
    },
  ]
}

/** In the namespace where Karmada's agent may keep its cluster's credentials, ours keeps only its Lease. */
function leaseRules(cluster: string): PolicyRule[] {
  const apiGroups = ['coordination.k8s.io']
  const resourceNames = [cluster]
  return [
    { apiGroups, resources: ['leases'], verbs: ['create'] },
    { apiGroups, resources: ['leases'], resourceNames, verbs: ['get', 'update', 'patch'] },
  ]
}

const workSpaceRules: readonly PolicyRule[] = Object.freeze([
  {
    apiGroups: ['work.karmada.io'],
    resources: ['works'],
    verbs: ['get', 'list', 'watch', 'update', 'patch', 'delete'],
  },
  {
    apiGroups: ['work.karmada.io'],
    resources: ['works/status'],
    verbs: ['get', 'update', 'patch'],
  },
  { apiGroups: [''], resources: ['events'], verbs: ['create', 'update', 'patch'] },
])

/** A role, and the binding that gives it to the cluster's agent. */
function bound(
  kind: 'Role' | 'ClusterRole',
  metadata: AnyObject['metadata'],
  { cluster, rules }: { cluster: string; rules: readonly PolicyRule[] },
): AnyObject[] {
  const apiVersion = `${rbac}/v1`
  return [
    { apiVersion, kind, metadata, rules },
    {
      apiVersion,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: rbac, kind, name: metadata.name },
      subjects: [{ apiGroup: rbac, kind: 'User', name: agentUserName(cluster) }],
    },
  ]
}

const refs: Readonly<Record<string, ResourceRef>> = {
  Namespace: resources.namespaces,
  ClusterRole: resources.clusterRoles,
  ClusterRoleBinding: resources.clusterRoleBindings,
  Role: resources.roles,
  RoleBinding: resources.roleBindings,
}

function refOf({ kind }: AnyObject): ResourceRef {
  const found = refs[kind]
  if (found === undefined) throw new TypeError(`Cannot write rights: they hold a ${kind}`)
  return found
}
