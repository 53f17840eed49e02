import type { Plugin } from './framework/plugin.ts'

/** Defines how the pods of one schedulerName are placed. */
export interface Profile {
  readonly schedulerName: string
  /** The filters in the order in which nodes are checked; the first refusal of a node is the one reported. */
  readonly filters: readonly Plugin[]
  readonly scores: readonly { readonly plugin: Plugin; readonly weight: number }[]
  /** True if claims for devices are managed: one that is useless is deallocated. */
  readonly deallocates: boolean
  /** True if pods of lower priority may be preempted. */
  readonly preempts: boolean
  /** 0 means as many as the size of the cluster suggests. */
  readonly percentageOfNodesToScore: number
}
