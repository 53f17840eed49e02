import type { Container, EphemeralContainer, Pod } from '@skerry/api'
import type { Clock, Logger, Random } from '@skerry/base'
import type { EventRecorder } from '@skerry/client'
import type { Cgroups } from '../containerd/cgroups.ts'
import type { ContainerRuntime } from '../cri/container-runtime.ts'
import type { ContainerDevices } from '../devices/device-plugin.ts'
import type { NodeAllocatable } from '../env/container-resource.ts'
import type { ImagePuller } from '../images/image-puller.ts'
import type { ResolvedConfig } from '../kubelet-config.ts'
import type { PodIsolation } from './pod-isolation.ts'
import type { PodNetwork } from './pod-network.ts'
import type { PodObserver } from './pod-observer.ts'
import type { StatusReporter } from '../status/status-reporter.ts'
import type { NodeObjects } from '../store/node-objects.ts'
import type { CsiVolumes } from '../volumes/volume.ts'

/** Facts that stay fixed while the agent runs. */
export interface NodeFacts {
  bootId: string
  hostIps: readonly string[]
  allocatable: NodeAllocatable
  memoryCapacityBytes: number
}

/** Gives containers the devices of their extended resources. */
export interface DeviceGiver {
  /** Throws StartError if they are not there yet. */
  give(
    pod: Pod,
    container: Container | EphemeralContainer,
    signal: AbortSignal,
  ): Promise<readonly ContainerDevices[]>
}

/** The dependencies of every pod worker. */
export interface NodeContext {
  config: ResolvedConfig
  facts: NodeFacts
  cgroups: Cgroups
  runtime: ContainerRuntime
  clock: Clock
  random: Random
  log: Logger
  events: EventRecorder
  observer: PodObserver
  images: ImagePuller
  isolation: PodIsolation
  network: PodNetwork
  objects: NodeObjects
  csi: CsiVolumes
  devices: DeviceGiver
  statuses: StatusReporter
}
