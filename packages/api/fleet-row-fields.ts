/**
 * One cluster, as a hub sends it to the pages of the web console. Keys are short, because a fleet has thousands of rows; empty
 * values are omitted.
 */
export interface FleetRow {
  /** The name. */
  readonly n: string
  /** Its state. */
  readonly s:
    | 'ready'
    | 'working'
    | 'degraded'
    | 'failed'
    | 'away'
    | 'unknown'
    | 'suspended'
    | 'pending'
  /** Since when, in seconds since the Unix epoch. */
  readonly t?: number
  /** The reason for the state, for people. */
  readonly m?: string
  /** The version of Kubernetes. */
  readonly v?: string
  /** The provider, the region and the zone. */
  readonly p?: string
  readonly r?: string
  readonly z?: string
  readonly l?: Readonly<Record<string, string>>
  /** The number of nodes that are ready, and of all of them. */
  readonly nr?: number
  readonly nt?: number
  /** The number of pods. */
  readonly pc?: number
  /** The requested share of the processors and of the memory, from 0 to 1. */
  readonly cpu?: number
  readonly mem?: number
  /** When its agent was last heard, in seconds since the Unix epoch. Omitted while it is connected. */
  readonly seen?: number
  /** The tunnels that end at this replica, at least one while any replica has one. */
  readonly tun?: number
  /** The cluster whose tunnel leads to this virtual one. */
  readonly parent?: string
  readonly kind?: 'site' | 'import' | 'virtual' | 'push'
  /** Its EdgeCluster, as `namespace/name`. */
  readonly e?: string
}
