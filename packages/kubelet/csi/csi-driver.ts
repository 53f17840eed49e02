import { GrpcChannel, loadMethods, pluginCaller } from '../cri/grpc-channel.ts'
import { csiDefaults, kubeletBounds } from '../limits-table.ts'
import { nodeService } from './csi-schema-table.ts'

const { messageBytesMax } = kubeletBounds.csi
const { callTimeoutMs, probeTimeoutMs } = csiDefaults

/** A capability of a driver's node service, by its name in csi.proto. */
type DriverCapability =
  | 'STAGE_UNSTAGE_VOLUME'
  | 'GET_VOLUME_STATS'
  | 'EXPAND_VOLUME'
  | 'SINGLE_NODE_MULTI_WRITER'
  | 'VOLUME_MOUNT_GROUP'

export type DriverAccessMode =
  | 'SINGLE_NODE_WRITER'
  | 'MULTI_NODE_READER_ONLY'
  | 'MULTI_NODE_MULTI_WRITER'
  | 'SINGLE_NODE_SINGLE_WRITER'
  | 'SINGLE_NODE_MULTI_WRITER'

type Texts = Readonly<Record<string, string>>

export interface VolumeCapability {
  readonly block?: Readonly<Record<string, never>>
  readonly mount?: {
    readonly fsType: string
    readonly mountFlags: readonly string[]
    readonly volumeMountGroup: string
  }
  readonly accessMode: { readonly mode: DriverAccessMode }
}

export interface StageRequest {
  readonly volumeId: string
  readonly publishContext: Texts
  readonly stagingTargetPath: string
  readonly volumeCapability: VolumeCapability
  readonly secrets: Texts
  readonly volumeContext: Texts
}

export interface PublishRequest extends StageRequest {
  readonly targetPath: string
  readonly readonly: boolean
}

export interface ExpandRequest {
  readonly volumeId: string
  readonly volumePath: string
  readonly capacityRange: { readonly requiredBytes: number; readonly limitBytes: number }
  readonly stagingTargetPath: string
  readonly volumeCapability: VolumeCapability
  readonly secrets: Texts
}

export interface VolumeUsage {
  readonly available: number
  readonly total: number
  readonly used: number
  readonly unit: string
}

export interface DriverInfo {
  readonly nodeId: string
  /** 0 if the driver declares no limit. */
  readonly volumesMax: number
  readonly topology: Texts
}

/** The node service of one CSI driver, a program of somebody else behind a socket: each call has a deadline. */
export interface CsiDriver extends Disposable {
  info(signal: AbortSignal): Promise<DriverInfo>
  capabilities(signal: AbortSignal): Promise<ReadonlySet<DriverCapability>>
  stage(request: StageRequest, signal: AbortSignal): Promise<void>
  unstage(
    request: { volumeId: string; stagingTargetPath: string },
    signal: AbortSignal,
  ): Promise<void>
  publish(request: PublishRequest, signal: AbortSignal): Promise<void>
  unpublish(request: { volumeId: string; targetPath: string }, signal: AbortSignal): Promise<void>
  expand(request: ExpandRequest, signal: AbortSignal): Promise<void>
  usage(
    request: { volumeId: string; volumePath: string; stagingTargetPath: string },
    signal: AbortSignal,
  ): Promise<readonly VolumeUsage[]>
}

/** The connection is made by the first call and made again after the driver was restarted. */
export function dialCsiDriver(socketPath: string): CsiDriver {
  const channel = new GrpcChannel(`unix:${socketPath}`, { messageBytesMax })
  const call = pluginCaller(channel, loadMethods(nodeService))
  return {
    async info(signal) {
      // The schema table defines this answer.
      const answer = (await call('NodeGetInfo', {}, probeTimeoutMs, signal)) as InfoAnswer
      return {
        nodeId: answer.nodeId,
        volumesMax: answer.maxVolumesPerNode,
        topology: answer.accessibleTopology?.segments ?? {},
      }
    },
    async capabilities(signal) {
      // The schema table defines this answer; names that it lacks stay numbers and match nothing.
      const answer = (await call(
        'NodeGetCapabilities',
        {},
        probeTimeoutMs,
        signal,
      )) as CapabilitiesAnswer
      return new Set(answer.capabilities.flatMap(({ rpc }) => (rpc ? [rpc.type] : [])))
    },
    async stage(request, signal) {
      await call('NodeStageVolume', request, callTimeoutMs, signal)
    },
    async unstage(request, signal) {
      await call('NodeUnstageVolume', request, callTimeoutMs, signal)
    },
    async publish(request, signal) {
      await call('NodePublishVolume', request, callTimeoutMs, signal)
    },
    async unpublish(request, signal) {
      await call('NodeUnpublishVolume', request, callTimeoutMs, signal)
    },
    async expand(request, signal) {
      await call('NodeExpandVolume', request, callTimeoutMs, signal)
    },
    async usage(request, signal) {
      // The schema table defines this answer.
      const answer = (await call('NodeGetVolumeStats', request, probeTimeoutMs, signal)) as {
        usage: VolumeUsage[]
      }
      return answer.usage
    },
    [Symbol.dispose]() {
      channel[Symbol.dispose]()
    },
  }
}

interface InfoAnswer {
  nodeId: string
  maxVolumesPerNode: number
  accessibleTopology: { segments: Record<string, string> } | null
}

interface CapabilitiesAnswer {
  capabilities: { rpc: { type: DriverCapability } | null }[]
}
