import type { Pod } from '@skerry/api'

/** Enforces NetworkPolicies for this node's pods, except for those in the node's own network. */
export interface PodIsolation {
  /** Reports the pod's present address. It is cheap if that is known. */
  placed(pod: Pod, address: string): void
  /** Reports that nothing of the pod runs any more; its address may be reused. */
  gone(pod: Pod): void
  /** Resolves when the policies for the pod are enforced, so that its containers may start. */
  whenKept(pod: Pod, signal: AbortSignal): Promise<void>
}

/** For nodes where another program enforces policies. */
export const noIsolation: PodIsolation = Object.freeze({
  placed: () => undefined,
  gone: () => undefined,
  whenKept: async () => undefined,
})
