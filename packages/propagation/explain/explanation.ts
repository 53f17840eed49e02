import type { AppliedOverride } from '../overrides/apply-overrides.ts'

/** Why an object of the hub is where it is, and why not elsewhere. */
export interface Explanation {
  readonly object: {
    readonly apiVersion: string
    readonly kind: string
    readonly namespace?: string
    readonly name: string
  }
  readonly claim: ClaimExplanation
  /** What the scheduler has said last; absent: it has not looked yet. */
  readonly scheduled?: {
    readonly status: string
    readonly reason: string
    readonly message: string
  }
  /** In their order; empty where all clusters are sent to at once. */
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
  /** Absent: nobody's. */
  readonly policy?: PolicyName
  readonly why: string
  /** Policies that select it, too, and why it is not theirs. */
  readonly others: readonly { readonly policy: PolicyName; readonly why: string }[]
}

export interface WaveExplanation {
  readonly name: string
  readonly isOpen: boolean
  /** Clusters that are present, have the newest and are well; and how many must be. */
  readonly well: number
  readonly needed: number
  readonly clusters: readonly string[]
}

/** What is most worth knowing of a cluster; `NotPlaced` of one that the object does not go to. */
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
  /** Of what has replicas. */
  readonly replicas?: number
  /** Sentences; empty where there is nothing to say. */
  readonly why: readonly string[]
  /** What is changed for it, in the order in which it is. */
  readonly overrides: readonly Omit<AppliedOverride, 'overriders'>[]
}
