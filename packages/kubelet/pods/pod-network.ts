/** The network that this node's pods hang on, as far as the node sees it. */
export interface PodNetwork {
  /** Returns why pods may have no network, for the node's condition; an empty list if nothing is wrong. */
  problems(): readonly string[]
  /** Reports whether the network is known to be broken, so that no pod has one. */
  isCutOff(): boolean
  /** The sandbox's cable is gone: only a new sandbox has one. */
  hasLost(sandboxId: string): boolean
  /** Marks addresses in use as taken, before another sandbox gets one. */
  beforeSandbox(signal: AbortSignal): Promise<void>
}

/** For nodes where another program maintains the network. */
export const noPodNetwork: PodNetwork = Object.freeze({
  problems: () => [],
  isCutOff: () => false,
  hasLost: () => false,
  beforeSandbox: async () => undefined,
})
