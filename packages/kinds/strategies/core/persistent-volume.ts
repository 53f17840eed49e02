import type { PersistentVolume } from '@skerry/api'
import { keepField } from '../keep-fields.ts'
import { rfc3339 } from '../timestamps.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'
import { applyLegacySourceDefaults } from './volume-defaults.ts'
import {
  validatePersistentVolume,
  validatePersistentVolumeUpdate,
} from './persistent-volume-validation.ts'
import { warningsOfVolume } from './persistent-volume-warnings.ts'

export const persistentVolumeStrategy = strategyOf<PersistentVolume>({
  warnings: warningsOfVolume,
  validate: validatePersistentVolume,
  validateUpdate: validatePersistentVolumeUpdate,
  hasGeneration: false,
  defaults: applyPersistentVolumeDefaults,
  prepareForCreate(next, context) {
    next.status = { phase: 'Pending', lastPhaseTransitionTime: rfc3339(context.nowMs) }
  },
  prepareForUpdate(next, old) {
    keepField(next, old, 'status')
  },
  prepareForStatusUpdate(next, old, context) {
    keepField(next, old, 'spec')
    const status = (next.status ??= {})
    const before = old.status ?? {}
    const isStale = status.lastPhaseTransitionTime === before.lastPhaseTransitionTime
    if (status.phase === before.phase) {
      status.lastPhaseTransitionTime ??= before.lastPhaseTransitionTime
    } else if (context && (!status.lastPhaseTransitionTime || isStale)) {
      status.lastPhaseTransitionTime = rfc3339(context.nowMs)
    }
  },
})

function applyPersistentVolumeDefaults(volume: LooseObject<PersistentVolume>): void {
  const spec = (volume.spec ??= {})
  const status = (volume.status ??= {})
  status.phase ||= 'Pending'
  spec.persistentVolumeReclaimPolicy ||= 'Retain'
  spec.volumeMode ??= 'Filesystem'
  if (spec.hostPath) spec.hostPath.type ??= ''
  applyLegacySourceDefaults(spec)
}
