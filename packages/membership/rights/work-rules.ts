import type { PolicyRule } from './impersonation-policy.ts'

/**
 * What an agent needs in its cluster to apply whatever a Work carries. It may not impersonate by
 * them; but who may write roles and bindings may in the end do everything.
 */
export const workRules: readonly PolicyRule[] = Object.freeze([
  {
    apiGroups: ['*'],
    resources: ['*'],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
  },
  // Roles are carried, too, and the agent has not itself what they give.
  {
    apiGroups: ['rbac.authorization.k8s.io'],
    resources: ['roles', 'clusterroles'],
    verbs: ['escalate', 'bind'],
  },
])
