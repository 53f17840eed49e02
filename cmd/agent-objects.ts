import { isStatusError, type AnyObject } from '@skerry/api'
import type { Objects } from '@skerry/apiserver'
import { serviceRules, workRules, type AllowedService } from '@skerry/karmada'

/** Who the built-in agent is to its own site. */
export const localAgentUser = 'system:skerry:agent'

const rbac = 'rbac.authorization.k8s.io'
const roleName = 'skerry:agent'
const servicesRoleName = 'skerry:agent:services'
const worksRoleName = 'skerry:agent:works'

/**
 * What an agent needs in its cluster: to act as the hub's users, and to see how the cluster is. Of
 * the objects that users own it sees pods alone, and changes nothing.
 */
export const agentRole: AnyObject = Object.freeze({
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRole',
  metadata: { name: roleName },
  rules: [
    { apiGroups: [''], resources: ['users', 'groups', 'serviceaccounts'], verbs: ['impersonate'] },
    // uids, and userextras/<any key>, for which RBAC has no narrower pattern.
    { apiGroups: ['authentication.k8s.io'], resources: ['*'], verbs: ['impersonate'] },
    { apiGroups: [''], resources: ['nodes', 'pods'], verbs: ['get', 'list', 'watch'] },
    {
      apiGroups: [''],
      resources: ['namespaces'],
      resourceNames: ['kube-system'],
      verbs: ['get'],
    },
    {
      nonResourceURLs: ['/readyz', '/version', '/api', '/api/*', '/apis', '/apis/*'],
      verbs: ['get'],
    },
  ],
})

/** To find the services that the hub may reach; apart, as most agents reach none. */
const servicesRole: AnyObject = Object.freeze({
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRole',
  metadata: { name: servicesRoleName },
  rules: serviceRules,
})

/** To apply Works; apart, and bound only while the agent is told to. */
const worksRole: AnyObject = Object.freeze({
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRole',
  metadata: { name: worksRoleName },
  rules: workRules,
})

function bindingOf(name: string): AnyObject {
  return {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
    subjects: [{ apiGroup: rbac, kind: 'User', name: localAgentUser }],
  }
}

export interface AgentDuties {
  /** That the hub may reach. */
  readonly services?: readonly AllowedService[]
  readonly appliesWorks?: boolean | undefined
  readonly hasVirtualClusters?: boolean | undefined
}

/** Made when missing; an operator who narrows the role keeps it narrow. What is no duty any more is unbound. */
export async function ensureAgentObjects(
  objects: Objects,
  { services = [], appliesWorks = false, hasVirtualClusters = false }: AgentDuties = {},
): Promise<void> {
  await ensureBound(objects, agentRole)
  if (services.length > 0) await ensureBound(objects, servicesRole)
  if (appliesWorks || hasVirtualClusters) await ensureBound(objects, worksRole)
  else await unbind(objects, worksRoleName)
}

async function unbind(objects: Objects, name: string): Promise<void> {
  const bindings = { group: rbac, resource: 'clusterrolebindings' }
  if (objects.get(bindings, '', name)) await objects.delete(bindings, '', name)
}

async function ensureBound(objects: Objects, role: AnyObject): Promise<void> {
  const { name = '' } = role.metadata
  const wanted = [
    { resource: 'clusterroles', object: role },
    { resource: 'clusterrolebindings', object: bindingOf(name) },
  ]
  for (const { resource, object } of wanted) {
    if (objects.get({ group: rbac, resource }, '', name)) continue
    try {
      await objects.create({ group: rbac, resource }, structuredClone(object))
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error
    }
  }
}
