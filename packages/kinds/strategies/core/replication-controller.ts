import type { ReplicationController } from '@skerry/api'
import { statusApart } from '../keep-fields.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'
import { applyPodTemplateDefaults } from './pod-spec-defaults.ts'
import {
  validateReplicationController,
  validateReplicationControllerStatus,
} from './replication-controller-validation.ts'
import { isSame } from '../checks.ts'
import { warningsOfName } from '../name-warnings.ts'
import { warningsOfTemplate } from './pod-warnings/pod-warnings.ts'

export const replicationControllerStrategy = strategyOf<ReplicationController>({
  warnings(next, old) {
    if (old && isSame(next.spec, old.spec)) return []
    return [
      ...(old ? [] : warningsOfName(next.metadata)),
      // Upstream warns of the object that an update replaces.
      ...warningsOfTemplate((old ?? next).spec?.template, 'spec.template'),
    ]
  },
  validate: validateReplicationController,
  validateUpdate: validateReplicationController,
  validateStatusUpdate: validateReplicationControllerStatus,
  ...statusApart,
  defaults: applyReplicationControllerDefaults,
  defaultGarbageCollection: 'orphan',
  prepareForCreate(next) {
    next.status = { replicas: 0 }
  },
})

function applyReplicationControllerDefaults(controller: LooseObject<ReplicationController>): void {
  const spec = (controller.spec ??= {})
  const status = (controller.status ??= {})
  status.replicas ??= 0
  spec.replicas ??= 1
  if (spec.template) applyPodTemplateDefaults(spec.template)
  const labels = spec.template?.metadata?.labels
  if (!labels) return
  if (Object.keys(spec.selector ?? {}).length === 0) spec.selector = { ...labels }
  const { metadata } = controller
  if (Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels }
}
