import type { Container } from '@skerry/api'

type Amounts = NonNullable<NonNullable<Container['resources']>['requests']>

/** Holds the resources of a container that can change while it runs. */
export interface ComputeResources {
  readonly requests: Amounts
  readonly limits: Amounts
}

/** The runtime's knowledge of one pod, reduced to what decisions use. */
export interface ObservedPod {
  /** The sandboxes, newest first. */
  readonly sandboxes: readonly ObservedSandbox[]
  /** The containers of every sandbox, newest first. */
  readonly containers: readonly ObservedContainer[]
}

export interface ObservedSandbox {
  readonly id: string
  readonly attempt: number
  /** False too for a sandbox of a former boot, whatever the runtime believes. */
  readonly isReady: boolean
  readonly createdAtMs: number
  /** Empty on the host's network, and if the sandbox has lost its own or cannot be inspected. */
  readonly ips: readonly string[]
  /** The node's end of its virtual link. If omitted, unknown. */
  readonly hostLink?: string
  readonly isHostNetwork: boolean
}

export type ObservedState = 'created' | 'running' | 'exited' | 'unknown'

export interface ObservedContainer {
  readonly id: string
  readonly name: string
  /** The number of earlier starts of a container of this name. */
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
  /** The hash of the part of the spec whose change requires a new container. */
  readonly specHash: string
  /** The resources with which it was created. If omitted, a release that did not record them created it. */
  readonly resources?: ComputeResources
  readonly image: string
  readonly imageId: string
}

export const nothingObserved: ObservedPod = Object.freeze({ sandboxes: [], containers: [] })

/** The newest container of that name, in any sandbox. */
export function latestContainer(pod: ObservedPod, name: string): ObservedContainer | undefined {
  return pod.containers.find((container) => container.name === name)
}

/** Returns the sandbox in which containers may start; undefined if a new one is needed. */
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
