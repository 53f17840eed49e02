import type { Plugin } from './framework/plugin.ts'

/** How the pods of one schedulerName are placed. */
export interface Profile {
  readonly schedulerName: string
  /** In the order in which nodes are asked; the first refusal of a node is the one that is told. */
  readonly filters: readonly Plugin[]
  readonly scores: readonly { readonly plugin: Plugin; readonly weight: number }[]
  /** Claims for devices are looked after: one that is of no use is given back. */
  readonly deallocates: boolean
  /** Pods of lower priority may have to give way. */
  readonly preempts: boolean
  /** 0: as many as the size of the cluster suggests. */
  readonly percentageOfNodesToScore: number
}
