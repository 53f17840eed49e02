import type { AppliedOverride } from '../overrides/apply-overrides.ts'

/** Why an object of the hub is where it is, and not elsewhere. */
export interface Explanation {
  readonly object: {
    readonly apiVersion: string
    readonly kind: string
    readonly namespace?: string
    readonly name: string
  }
  readonly claim: ClaimExplanation
  /** The scheduler's last result. If omitted, it has not looked at the object yet. */
  readonly scheduled?: {
    readonly status: string
    readonly reason: string
    readonly message: string
  }
  /** The waves in their order; empty if all clusters get changes at once. */
  readonly waves: readonly WaveExplanation[]
  /** The whole fleet, by name. */
  readonly clusters: readonly ClusterExplanation[]
}

export interface PolicyName {
  readonly kind: string
  readonly namespace?: string
  readonly name: string
}

export interface ClaimExplanation {
  /** The claiming policy. If omitted, no policy has claimed the object. */
  readonly policy?: PolicyName
  readonly why: string
  /** The other policies that select it, and why they have not claimed it. */
  readonly others: readonly { readonly policy: PolicyName; readonly why: string }[]
}

export interface WaveExplanation {
  readonly name: string
  readonly isOpen: boolean
  /** The clusters that are present, have the newest version and are healthy; and how many must be. */
  readonly well: number
  readonly needed: number
  readonly clusters: readonly string[]
}

/** The most important fact about a cluster; `NotPlaced` if the object does not go there. */
export type ClusterStanding =
  | 'Healthy'
  | 'Unhealthy'
  | 'Failed'
  | 'Waiting'
  | 'Held'
  | 'Suspended'
  | 'Away'
  | 'NotPlaced'

export interface ClusterExplanation {
  readonly name: string
  readonly standing: ClusterStanding
  /** The number of replicas, for objects that have them. */
  readonly replicas?: number
  /** The reasons, as sentences; empty if there are none. */
  readonly why: readonly string[]
  /** The changes for this cluster, in the order in which they are applied. */
  readonly overrides: readonly Omit<AppliedOverride, 'overriders'>[]
}
