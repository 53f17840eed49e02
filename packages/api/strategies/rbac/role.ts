import type { ClusterRole, Role } from '../../generated/types.ts'
import { strategyOf } from '../typed-strategy.ts'

export const roleStrategy = strategyOf<Role>({
  hasGeneration: false,
  allowCreateOnUpdate: true,
  nameRule: 'path-segment',
  defaults(role) {
    for (const rule of role.rules ?? []) rule.verbs ??= []
  },
})

export const clusterRoleStrategy = strategyOf<ClusterRole>({
  hasGeneration: false,
  allowCreateOnUpdate: true,
  nameRule: 'path-segment',
  defaults(role) {
    for (const rule of role.rules ?? []) rule.verbs ??= []
  },
})
