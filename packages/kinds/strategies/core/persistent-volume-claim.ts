import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from '@skerry/api'
import { keepField, statusApart } from '../keep-fields.ts'
import { strategyOf, type Loose, type LooseObject } from '../typed-strategy.ts'
import { applyClaimSpecDefaults } from './volume-defaults.ts'
import {
  validateClaim,
  validateClaimStatus,
  validateClaimUpdate,
} from './persistent-volume-claim-validation.ts'
import { warningsOfClaim } from './pod-warnings/claim-warnings.ts'

export const persistentVolumeClaimStrategy = strategyOf<PersistentVolumeClaim>({
  warnings: warningsOfClaim,
  validate: validateClaim,
  validateUpdate: validateClaimUpdate,
  validateStatusUpdate: validateClaimStatus,
  hasGeneration: false,
  defaults: applyClaimDefaults,
  prepareForCreate(next) {
    next.status = { phase: 'Pending' }
    if (next.spec) {
      dropForeignDataSource(next.spec)
      alignDataSources(next.spec)
    }
  },
  prepareForUpdate(next, old) {
    keepField(next, old, 'status')
    if (next.spec) alignDataSources(next.spec)
  },
  prepareForStatusUpdate: statusApart.prepareForStatusUpdate,
})

function applyClaimDefaults(claim: LooseObject<PersistentVolumeClaim>): void {
  applyClaimSpecDefaults((claim.spec ??= {}))
  claim.status ??= {}
  claim.status.phase ||= 'Pending'
}

/** dataSource and dataSourceRef agree, unless the reference leaves the namespace. */
function alignDataSources(spec: Loose<PersistentVolumeClaimSpec>): void {
  if (spec.dataSource && !spec.dataSourceRef) {
    spec.dataSourceRef = { ...spec.dataSource }
  } else if (spec.dataSourceRef && !spec.dataSource && !spec.dataSourceRef.namespace) {
    const { apiGroup, kind, name } = spec.dataSourceRef
    spec.dataSource = { apiGroup: apiGroup ?? null, kind, name }
  }
}

/** The older field accepts only claims and snapshots; anything else in it was always ignored. */
function dropForeignDataSource(spec: Loose<PersistentVolumeClaimSpec>): void {
  const { dataSource } = spec
  if (!dataSource || spec.dataSourceRef) return
  const { kind } = dataSource
  const apiGroup = dataSource.apiGroup ?? ''
  const isClaim = apiGroup === '' && kind === 'PersistentVolumeClaim'
  const isSnapshot = apiGroup === 'snapshot.storage.k8s.io' && kind === 'VolumeSnapshot'
  if (!isClaim && !isSnapshot) delete spec.dataSource
}
