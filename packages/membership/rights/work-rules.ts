import type { PolicyRule } from './impersonation-policy.ts'

/**
 * The rights that an agent needs in its cluster to apply any Work. They do not include impersonation; but a
 * user who may write roles and bindings can in the end do everything.
 */
export const workRules: readonly PolicyRule[] = Object.freeze([
  {
    apiGroups: ['*'],
    resources: ['*'],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
  },
  // Works can contain roles, whose rights the agent itself lacks.
  {
    apiGroups: ['rbac.authorization.k8s.io'],
    resources: ['roles', 'clusterroles'],
    verbs: ['escalate', 'bind'],
  },
])
