import { isDeepStrictEqual } from 'node:util'
import { isStatusError, type AnyObject } from '@skerry/api'
import type { Objects } from '@skerry/apiserver'
import type { AllowedService } from '@skerry/fleet-kinds'
import {
  impersonationRules,
  reportingRules,
  serviceRules,
  workRules,
  type ImpersonationPolicy,
} from '@skerry/membership'

/** The built-in agent's user at its own site. */
export const localAgentUser = 'system:skerry:agent'

const rbac = 'rbac.authorization.k8s.io'
const roleName = 'skerry:agent'
const servicesRoleName = 'skerry:agent:services'
const worksRoleName = 'skerry:agent:works'

/**
 * The agent's rights in its cluster: to impersonate the hub's users, and to read the cluster's status. Pods
 * are the only users' objects that it reads, and it changes none.
 */
export const agentRole: AnyObject = Object.freeze({
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRole',
  metadata: { name: roleName },
  rules: [
    { apiGroups: [''], resources: ['users', 'groups', 'serviceaccounts'], verbs: ['impersonate'] },
    // The rule covers uids, and userextras/<any key>, for which RBAC has no narrower pattern.
    { apiGroups: ['authentication.k8s.io'], resources: ['*'], verbs: ['impersonate'] },
    ...reportingRules,
  ],
})

/** The rules that this program wrote last: what differs from them is an operator's. */
const writtenKey = 'skerry.io/written-rules'

/** Restricts impersonation to the users of the policy. Other facts about users grant no rights, and stay open. */
function agentRoleFor(policy: ImpersonationPolicy): AnyObject {
  const named = impersonationRules(policy).filter(({ apiGroups }) => apiGroups?.includes(''))
  const more = { apiGroups: ['authentication.k8s.io'], resources: ['*'], verbs: ['impersonate'] }
  const rules = [...named, more, ...reportingRules]
  const annotations = { [writtenKey]: JSON.stringify(rules) }
  return { ...agentRole, metadata: { name: roleName, annotations }, rules }
}

/** The rights to find the services that the hub may reach; separate, because most agents reach none. */
const servicesRole: AnyObject = Object.freeze({
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRole',
  metadata: { name: servicesRoleName },
  rules: serviceRules,
})

/** The rights to apply Works; separate, and bound only while the agent has that duty. */
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
  /** The users whom it may impersonate. If omitted, everybody whom the hub names. */
  readonly policy?: ImpersonationPolicy | undefined
  /** The services that the hub may reach. */
  readonly services?: readonly AllowedService[]
  readonly appliesWorks?: boolean | undefined
  readonly hasVirtualClusters?: boolean | undefined
}

/**
 * Creates missing objects. The role follows the policy, unless an operator has changed it; a role whose duty
 * ended is unbound.
 */
export async function ensureAgentObjects(
  objects: Objects,
  {
    policy = {},
    services = [],
    appliesWorks = false,
    hasVirtualClusters = false,
  }: AgentDuties = {},
): Promise<void> {
  const role = policy.users || policy.groups ? agentRoleFor(policy) : agentRole
  await ensureBound(objects, role)
  await follow(objects, role)
  if (services.length > 0) await ensureBound(objects, servicesRole)
  if (appliesWorks || hasVirtualClusters) await ensureBound(objects, worksRole)
  else await unbind(objects, worksRoleName)
}

/** Writes the role as it is wanted, where it still is as this program has written it. */
async function follow(objects: Objects, wanted: AnyObject): Promise<void> {
  const { [writtenKey]: written } = wanted.metadata.annotations ?? {}
  const key = { namespace: '', name: roleName }
  await objects.update({ group: rbac, resource: 'clusterroles' }, key, (role) => {
    if (!isOurs(role) || isDeepStrictEqual(role['rules'], wanted['rules'])) return false
    const { [writtenKey]: _before, ...others } = role.metadata.annotations ?? {}
    role.metadata.annotations =
      written === undefined ? others : { ...others, [writtenKey]: written }
    Object.assign(role, { rules: wanted['rules'] })
    return true
  })
}

function isOurs(role: AnyObject): boolean {
  const { [writtenKey]: written } = role.metadata.annotations ?? {}
  if (written === undefined) return isDeepStrictEqual(role['rules'], agentRole['rules'])
  try {
    return isDeepStrictEqual(role['rules'], JSON.parse(written))
  } catch {
    // Another program has written it.
    return false
  }
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
