import type { ClusterRoleBinding, RoleBinding } from '../../generated/types.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'

export const roleBindingStrategy = strategyOf<RoleBinding>({
  hasGeneration: false,
  allowCreateOnUpdate: true,
  nameRule: 'path-segment',
  defaults: applyBindingDefaults,
})

export const clusterRoleBindingStrategy = strategyOf<ClusterRoleBinding>({
  hasGeneration: false,
  allowCreateOnUpdate: true,
  nameRule: 'path-segment',
  defaults: applyBindingDefaults,
})

export const rbacGroup = 'rbac.authorization.k8s.io'

function applyBindingDefaults(binding: LooseObject<RoleBinding | ClusterRoleBinding>): void {
  binding.roleRef ??= {}
  binding.roleRef.apiGroup ||= rbacGroup
  for (const subject of binding.subjects ?? []) {
    const isUser = subject.kind === 'User' || subject.kind === 'Group'
    if (isUser) subject.apiGroup ||= rbacGroup
  }
}
