import type { Container } from '@skerry/api'

type Amounts = NonNullable<NonNullable<Container['resources']>['requests']>

/** Holds the resources of a container that can change while it runs. */
export interface ComputeResources {
  readonly requests: Amounts
  readonly limits: Amounts
}

/** What the runtime knows of one pod, reduced to what decisions are made from. */
export interface ObservedPod {
  /** Newest first. */
  readonly sandboxes: readonly ObservedSandbox[]
  /** Newest first, of every sandbox. */
  readonly containers: readonly ObservedContainer[]
}

export interface ObservedSandbox {
  readonly id: string
  readonly attempt: number
  /** False too for a sandbox of a former boot, whatever the runtime believes. */
  readonly isReady: boolean
  readonly createdAtMs: number
  /** Empty on the host's network, and where the sandbox has lost its own or cannot be inspected. */
  readonly ips: readonly string[]
  /** The node's end of its cable; absent: unknown. */
  readonly hostLink?: string
  readonly isHostNetwork: boolean
}

export type ObservedState = 'created' | 'running' | 'exited' | 'unknown'

export interface ObservedContainer {
  readonly id: string
  readonly name: string
  /** How often a container of this name was started before. */
  readonly restartCount: number
  readonly sandboxId: string
  readonly state: ObservedState
  readonly createdAtMs: number
  /** 0: never. */
  readonly startedAtMs: number
  readonly finishedAtMs: number
  readonly exitCode: number
  readonly reason: string
  /** The termination message, or the runtime's word on a failed start. */
  readonly message: string
  /** Of the part of the spec whose change asks for a new container. */
  readonly specHash: string
  /** What it was made with; absent: made by a release that did not note it. */
  readonly resources?: ComputeResources
  readonly image: string
  readonly imageId: string
}

export const nothingObserved: ObservedPod = Object.freeze({ sandboxes: [], containers: [] })

/** The newest container of that name, in any sandbox. */
export function latestContainer(pod: ObservedPod, name: string): ObservedContainer | undefined {
  return pod.containers.find((container) => container.name === name)
}

/** The sandbox that containers may be started in; undefined: a new one is needed. */
export function usableSandbox(
  pod: ObservedPod,
  isHostNetwork: boolean,
): ObservedSandbox | undefined {
  const [newest] = pod.sandboxes
  if (!newest?.isReady || newest.isHostNetwork !== isHostNetwork) return undefined
  if (!isHostNetwork && newest.ips.length === 0) return undefined
  const readyCount = pod.sandboxes.filter(({ isReady }) => isReady).length
  return readyCount === 1 ? newest : undefined
}
