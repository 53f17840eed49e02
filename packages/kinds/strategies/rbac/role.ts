import type { ClusterRole, Role } from '@skerry/api'
import { strategyOf } from '../typed-strategy.ts'
import { validateClusterRole, validateRole } from './rbac-validation.ts'

export const roleStrategy = strategyOf<Role>({
  validate: validateRole,
  validateForm: validateRole,
  hasGeneration: false,
  allowCreateOnUpdate: true,
  nameRule: 'path-segment',
})

export const clusterRoleStrategy = strategyOf<ClusterRole>({
  validate: validateClusterRole,
  validateForm: validateClusterRole,
  hasGeneration: false,
  allowCreateOnUpdate: true,
  nameRule: 'path-segment',
})
