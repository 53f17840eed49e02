import type { StatefulSet, StatefulSetSpec } from '../../generated/types.ts'
import { applyPodTemplateDefaults } from '../core/pod-spec-defaults.ts'
import { applyClaimSpecDefaults } from '../core/volume-defaults.ts'
import { statusApart } from '../keep-fields.ts'
import { strategyOf, type Loose, type LooseObject } from '../typed-strategy.ts'
import {
  validateStatefulSet,
  validateStatefulSetStatus,
  validateStatefulSetUpdate,
} from './stateful-set-validation.ts'

export const statefulSetStrategy = strategyOf<StatefulSet>({
  nameRule: 'dns-label',
  validate: validateStatefulSet,
  validateUpdate: validateStatefulSetUpdate,
  validateStatusUpdate: validateStatefulSetStatus,
  ...statusApart,
  defaults: applyStatefulSetDefaults,
  prepareForCreate(next) {
    next.status = { replicas: 0 }
  },
})

function applyStatefulSetDefaults(set: LooseObject<StatefulSet>): void {
  const spec = (set.spec ??= {})
  const status = (set.status ??= {})
  status.replicas ??= 0
  status.availableReplicas ??= 0
  spec.podManagementPolicy ||= 'OrderedReady'
  applyUpdateStrategyDefaults(spec)
  spec.persistentVolumeClaimRetentionPolicy ??= {}
  spec.persistentVolumeClaimRetentionPolicy.whenDeleted ||= 'Retain'
  spec.persistentVolumeClaimRetentionPolicy.whenScaled ||= 'Retain'
  spec.replicas ??= 1
  spec.revisionHistoryLimit ??= 10
  applyPodTemplateDefaults((spec.template ??= {}))
  applyClaimTemplateDefaults(spec)
}

function applyUpdateStrategyDefaults(spec: Loose<StatefulSetSpec>): void {
  const strategy = (spec.updateStrategy ??= {})
  if (!strategy.type) {
    strategy.type = 'RollingUpdate'
    strategy.rollingUpdate ??= {}
  }
  if (strategy.type === 'RollingUpdate' && strategy.rollingUpdate) {
    strategy.rollingUpdate.partition ??= 0
  }
}

function applyClaimTemplateDefaults(spec: Loose<StatefulSetSpec>): void {
  for (const template of spec.volumeClaimTemplates ?? []) {
    template.apiVersion ||= 'v1'
    template.kind ||= 'PersistentVolumeClaim'
    template.metadata ??= {}
    applyClaimSpecDefaults((template.spec ??= {}))
    template.status ??= {}
    template.status.phase ||= 'Pending'
  }
}
