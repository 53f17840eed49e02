import type {
  DownwardAPIVolumeFile,
  PersistentVolumeClaimSpec,
  Volume,
  VolumeProjection,
} from '@skerry/api'
import type { Loose } from '../typed-strategy.ts'
import { defaultPullPolicy } from './image-pull-policy.ts'

/** The mode 0644, which JSON writes in decimal. */
const fileMode = 0o644

export function applyVolumeDefaults(volume: Loose<Volume>): void {
  if (!hasSource(volume)) volume.emptyDir = {}
  if (volume.image) volume.image.pullPolicy ||= defaultPullPolicy(volume.image.reference ?? '')
  if (volume.hostPath) volume.hostPath.type ??= ''
  if (volume.secret) volume.secret.defaultMode ??= fileMode
  if (volume.configMap) volume.configMap.defaultMode ??= fileMode
  if (volume.downwardAPI) {
    volume.downwardAPI.defaultMode ??= fileMode
    for (const file of volume.downwardAPI.items ?? []) applyDownwardFileDefaults(file)
  }
  if (volume.projected) {
    volume.projected.defaultMode ??= fileMode
    for (const source of volume.projected.sources ?? []) applyProjectionDefaults(source)
  }
  const template = volume.ephemeral?.volumeClaimTemplate
  if (template) {
    template.metadata ??= {}
    template.spec ??= {}
    applyClaimSpecDefaults(template.spec)
  }
  applyLegacySourceDefaults(volume)
}

export function applyClaimSpecDefaults(spec: Loose<PersistentVolumeClaimSpec>): void {
  spec.volumeMode ??= 'Filesystem'
  spec.resources ??= {}
}

function hasSource(volume: Loose<Volume>): boolean {
  return Object.entries(volume).some(([field, value]) => field !== 'name' && value !== undefined)
}

function applyDownwardFileDefaults(file: Loose<DownwardAPIVolumeFile>): void {
  if (file.fieldRef) file.fieldRef.apiVersion ||= 'v1'
  if (file.resourceFieldRef) file.resourceFieldRef.divisor ??= '0'
}

function applyProjectionDefaults(source: Loose<VolumeProjection>): void {
  for (const file of source.downwardAPI?.items ?? []) applyDownwardFileDefaults(file)
  if (source.serviceAccountToken) source.serviceAccountToken.expirationSeconds ??= 3600
}

type LegacySources = Pick<Loose<Volume>, 'iscsi' | 'rbd' | 'azureDisk' | 'scaleIO'>

/** The sources that pods and persistent volumes share, of drivers that were removed from Kubernetes' tree. */
export function applyLegacySourceDefaults(volume: LegacySources): void {
  if (volume.iscsi) volume.iscsi.iscsiInterface ||= 'default'
  if (volume.rbd) {
    volume.rbd.pool ||= 'rbd'
    volume.rbd.user ||= 'admin'
    volume.rbd.keyring ||= '/etc/ceph/keyring'
  }
  if (volume.azureDisk) {
    volume.azureDisk.cachingMode ??= 'ReadWrite'
    volume.azureDisk.fsType ??= 'ext4'
    volume.azureDisk.readOnly ??= false
    volume.azureDisk.kind ??= 'Shared'
  }
  if (volume.scaleIO) {
    volume.scaleIO.storageMode ||= 'ThinProvisioned'
    volume.scaleIO.fsType ||= 'xfs'
  }
}
