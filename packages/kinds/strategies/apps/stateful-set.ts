import type { StatefulSet, StatefulSetSpec } from '@skerry/api'
import { applyPodTemplateDefaults } from '../core/pod-spec-defaults.ts'
import { applyClaimSpecDefaults } from '../core/volume-defaults.ts'
import { statusApart } from '../keep-fields.ts'
import { strategyOf, type Loose, type LooseObject } from '../typed-strategy.ts'
import {
  validateStatefulSet,
  validateStatefulSetStatus,
  validateStatefulSetUpdate,
} from './stateful-set-validation.ts'
import { isSame } from '../checks.ts'
import { warningsOfTemplate } from '../core/pod-warnings/pod-warnings.ts'
import { warningsOfClaimSpec } from '../core/pod-warnings/claim-warnings.ts'

export const statefulSetStrategy = strategyOf<StatefulSet>({
  warnings: warningsOfStatefulSet,
  nameRule: 'dns-label',
  validate: validateStatefulSet,
  validateUpdate: validateStatefulSetUpdate,
  validateStatusUpdate: validateStatefulSetStatus,
  ...statusApart,
  defaults: applyStatefulSetDefaults,
  prepareForCreate(next) {
    next.status = { replicas: 0 }
    dropMaxUnavailable(next)
  },
  prepareForUpdate(next, old) {
    statusApart.prepareForUpdate(next, old)
    if (old.spec?.updateStrategy?.rollingUpdate?.maxUnavailable === undefined) {
      dropMaxUnavailable(next)
    }
  },
})

/** Upstream's feature MaxUnavailableStatefulSet is off by default; a set that has the field keeps it. */
function dropMaxUnavailable({ spec }: LooseObject<StatefulSet>): void {
  delete spec?.updateStrategy?.rollingUpdate?.maxUnavailable
}

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

function warningsOfStatefulSet(
  { spec = {} }: LooseObject<StatefulSet>,
  old?: LooseObject<StatefulSet>,
): string[] {
  const isKept = old && isSame(spec, old.spec)
  const warnings = isKept ? [] : warningsOfTemplate(spec.template, 'spec.template')
  for (const [at, claim] of (spec.volumeClaimTemplates ?? []).entries()) {
    // Upstream writes the path without spec on create, and with Spec on update.
    const path = `spec.volumeClaimTemplates[${at}]${old ? '.Spec' : ''}`
    warnings.push(...warningsOfClaimSpec(claim.spec ?? {}, path))
  }
  if ((spec.revisionHistoryLimit ?? 0) < 0) {
    const what = 'a negative value retains all historical revisions; a value >= 0 is recommended'
    warnings.push(`spec.revisionHistoryLimit: ${what}`)
  }
  return warnings
}
