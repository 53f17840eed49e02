import type { ClusterRoleBinding, RoleBinding } from '@skerry/api'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'
import {
  checkRoleRefUnchanged,
  rbacGroup,
  validateClusterRoleBinding,
  validateRoleBinding,
} from './rbac-validation.ts'

export const roleBindingStrategy = strategyOf<RoleBinding>({
  validate: validateRoleBinding,
  validateForm: validateRoleBinding,
  validateUpdate: checkRoleRefUnchanged,
  hasGeneration: false,
  allowCreateOnUpdate: true,
  nameRule: 'path-segment',
  defaults: applyBindingDefaults,
})

export const clusterRoleBindingStrategy = strategyOf<ClusterRoleBinding>({
  validate: validateClusterRoleBinding,
  validateForm: validateClusterRoleBinding,
  validateUpdate: checkRoleRefUnchanged,
  hasGeneration: false,
  allowCreateOnUpdate: true,
  nameRule: 'path-segment',
  defaults: applyBindingDefaults,
})

function applyBindingDefaults(binding: LooseObject<RoleBinding | ClusterRoleBinding>): void {
  binding.roleRef ??= {}
  binding.roleRef.apiGroup ||= rbacGroup
  for (const subject of binding.subjects ?? []) {
    const isUser = subject.kind === 'User' || subject.kind === 'Group'
    if (isUser) subject.apiGroup ||= rbacGroup
  }
}
