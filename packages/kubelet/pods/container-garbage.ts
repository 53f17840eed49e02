import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../pod/observed-pod.ts'
import { kubeletBounds } from '../limits-table.ts'

const { deadContainersKept } = kubeletBounds.containerGarbage

export interface Garbage {
  containers: ObservedContainer[]
  /** The sandboxes to remove after their containers. */
  sandboxes: ObservedSandbox[]
}

/** Returns the containers and sandboxes of a living pod that are no longer needed. */
export function podGarbage(observed: ObservedPod): Garbage {
  const seen = new Map<string, number>()
  const containers = observed.containers.filter(({ name, state }) => {
    const count = seen.get(name) ?? 0
    seen.set(name, count + 1)
    return count > deadContainersKept && state !== 'running'
  })
  const kept = new Set(
    observed.containers.filter((one) => !containers.includes(one)).map((one) => one.sandboxId),
  )
  const sandboxes = observed.sandboxes
    .slice(1)
    .filter(({ id, isReady }) => !isReady && !kept.has(id))
  return { containers, sandboxes }
}
