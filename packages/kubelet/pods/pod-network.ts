/** The network that this node's pods hang on, as far as the node sees it. */
export interface PodNetwork {
  /** Why pods may have no network, for the node's condition; empty: nothing is wrong. */
  problems(): readonly string[]
  /** Known to be out of order: no pod has a network. */
  isCutOff(): boolean
  /** The sandbox's cable is gone: only a new sandbox has one. */
  hasLost(sandboxId: string): boolean
  /** Marks addresses in use as taken, before another sandbox gets one. */
  beforeSandbox(signal: AbortSignal): Promise<void>
}

/** Where somebody else looks after it. */
export const noPodNetwork: PodNetwork = Object.freeze({
  problems: () => [],
  isCutOff: () => false,
  hasLost: () => false,
  beforeSandbox: async () => undefined,
})
