import type { Clock, Logger, Random } from '@skerry/base'
import type { Pod, Secret, Service } from '@skerry/api'
import type { EventRecorder } from '@skerry/client'
import type { Cgroups } from './containerd/cgroups.ts'
import type { ContainerRuntime } from './cri/container-runtime.ts'
import type { NodeAllocatable } from './env/container-resource.ts'
import type { ImagePuller } from './images/image-puller.ts'
import type { ResolvedConfig } from './kubelet-config.ts'
import type { PodIsolation } from './pods/pod-isolation.ts'
import type { PodNetwork } from './pods/pod-network.ts'
import type { PodObserver } from './pods/pod-observer.ts'
import type { StatusReporter } from './status/status-reporter.ts'
import type { VolumeSources } from './volumes/volume.ts'

/** The node's own copies of what its pods name; node-store.ts keeps them. */
export interface NodeObjects extends VolumeSources {
  /** Of that namespace, and the API server's own. */
  services(namespace: string): readonly Service[]
  /** Those of the pod's imagePullSecrets that exist. */
  pullSecrets(pod: Pod): Secret[]
  /** Resolves once everything the pod names was asked for at least once, or is known from disk. */
  whenKnown(pod: Pod, signal: AbortSignal): Promise<void>
  /** The handler of a RuntimeClass; undefined when there is no such class. */
  runtimeHandler(runtimeClass: string, signal: AbortSignal): Promise<string | undefined>
}

/** What is fixed while the agent runs. */
export interface NodeFacts {
  bootId: string
  hostIps: readonly string[]
  allocatable: NodeAllocatable
  memoryCapacityBytes: number
}

/** What every pod worker stands on. */
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
  statuses: StatusReporter
}
