import type { ReplicaSet } from '@skerry/api'
import { applyPodTemplateDefaults } from '../core/pod-spec-defaults.ts'
import { statusApart } from '../keep-fields.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'
import {
  validateReplicaSet,
  validateReplicaSetStatus,
  validateReplicaSetUpdate,
} from './replica-set-validation.ts'
import { isSame } from '../checks.ts'
import { warningsOfName } from '../name-warnings.ts'
import { warningsOfTemplate } from '../core/pod-warnings/pod-warnings.ts'

export const replicaSetStrategy = strategyOf<ReplicaSet>({
  warnings(next, old) {
    if (old && isSame(next.spec, old.spec)) return []
    return [
      ...(old ? [] : warningsOfName(next.metadata)),
      ...warningsOfTemplate(next.spec?.template, 'spec.template'),
    ]
  },
  validate: validateReplicaSet,
  validateUpdate: validateReplicaSetUpdate,
  validateStatusUpdate: validateReplicaSetStatus,
  ...statusApart,
  defaults: applyReplicaSetDefaults,
  prepareForCreate(next) {
    next.status = { replicas: 0 }
  },
})

function applyReplicaSetDefaults(set: LooseObject<ReplicaSet>): void {
  const spec = (set.spec ??= {})
  const status = (set.status ??= {})
  status.replicas ??= 0
  spec.replicas ??= 1
  applyPodTemplateDefaults((spec.template ??= {}))
}
