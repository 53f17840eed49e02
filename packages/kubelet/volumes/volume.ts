import type {
  ConfigMap,
  CSIVolumeSource,
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

/** A volume that a CSI driver provides: one of a claim, or one that the pod itself describes. */
export type CsiVolumeRequest = {
  readonly pod: Pod
  /** The volume's name in the pod. */
  readonly volumeName: string
  readonly isReadOnly: boolean
} & (
  | { readonly volume: PersistentVolume; readonly claim: PersistentVolumeClaim }
  | { readonly inline: CSIVolumeSource }
)

/** The volumes of CSI drivers on this node. */
export interface CsiVolumes {
  /** Makes the driver provide the volume; idempotent. Throws VolumeError. */
  setUp(
    request: CsiVolumeRequest,
    context: Pick<VolumeContext, 'sources' | 'nowMs'>,
    signal: AbortSignal,
  ): Promise<MountedVolume>
  /** Makes the drivers take back everything that they have provided for the pod. */
  tearDown(podUid: string, signal: AbortSignal): Promise<void>
}

export interface VolumeContext {
  pod: Pod
  directories: NodeDirectories
  sources: VolumeSources
  csi: CsiVolumes
  podIps: readonly string[]
  hostIps: readonly string[]
  allocatable: NodeAllocatable
  nowMs: number
}

export interface MountedVolume {
  hostPath: string
  /** True for a block device; hostPath is the device then, and no directory. */
  isBlock?: boolean
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
