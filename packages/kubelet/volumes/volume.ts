import type {
  ConfigMap,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Secret,
  Volume,
} from '@skerry/api'
import type { NodeAllocatable } from '../env/container-resource.ts'
import type { NodeDirectories } from '../pod/pod-paths.ts'

export interface TokenRequest {
  pod: Pod
  /** The audience; an empty string means the API server itself. */
  audience: string
  expirationSeconds: number
}

export interface ServiceAccountToken {
  token: string
  expiresAtMs: number
  issuedAtMs: number
}

/** The contents of volumes: the node's own copies of API objects. */
export interface VolumeSources {
  configMap(namespace: string, name: string): ConfigMap | undefined
  secret(namespace: string, name: string): Secret | undefined
  persistentVolumeClaim(namespace: string, name: string): PersistentVolumeClaim | undefined
  persistentVolume(name: string): PersistentVolume | undefined
  token(request: TokenRequest, signal: AbortSignal): Promise<ServiceAccountToken>
}

export interface VolumeContext {
  pod: Pod
  directories: NodeDirectories
  sources: VolumeSources
  podIps: readonly string[]
  hostIps: readonly string[]
  allocatable: NodeAllocatable
  nowMs: number
}

export interface MountedVolume {
  hostPath: string
  /** True if the volume's source must not be written, whatever the mount requests. */
  isReadOnly: boolean
  /** The time at which to fill it again, because something in it expires. */
  refreshAtMs?: number
}

/** Makes a volume, or brings an existing one up to date; idempotent. */
export type SetUpVolume = (
  volume: Volume,
  context: VolumeContext,
  signal: AbortSignal,
) => Promise<MountedVolume>

/** An error that becomes the FailedMount event of the pod. */
export class VolumeError extends Error {
  override name = 'VolumeError'
}
