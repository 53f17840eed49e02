import type { PodStatus } from '@skerry/api'
import type { Clock, Logger } from '@skerry/base'
import type { EventRecorder } from '@skerry/client'
import type { ContainerRuntime } from '../cri/container-runtime.ts'

/** Names the parts of the node that probes use. */
export interface ProbeContext {
  readonly runtime: ContainerRuntime
  readonly clock: Clock
  readonly log: Logger
  readonly events: EventRecorder
  /** Returns a pod's newest status by its uid: a prober starts from its result. */
  readonly statuses: { get(uid: string): PodStatus | undefined }
}
