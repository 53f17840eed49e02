import type { Pod } from '@skerry/api'

/** Who keeps NetworkPolicies for this node's pods; pods in the node's own network are none of theirs. */
export interface PodIsolation {
  /** Where the pod is by now. Cheap when that is known. */
  placed(pod: Pod, address: string): void
  /** Nothing of the pod runs any more; its address may be another's. */
  gone(pod: Pod): void
  /** Resolves when a container of the pod may start: what policies say of it holds. */
  whenKept(pod: Pod, signal: AbortSignal): Promise<void>
}

/** On nodes where somebody else does. */
export const noIsolation: PodIsolation = Object.freeze({
  placed: () => undefined,
  gone: () => undefined,
  whenKept: async () => undefined,
})
