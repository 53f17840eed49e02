import type { KubeObject, LabelSelectorFields } from '@skerry/api'
import type { TypedResource } from '@skerry/client'
import type { TrafficClass } from '@skerry/tunnel'
import { hubGroup } from '../access/cluster-access.ts'

/** A hub.skerry.io/v1alpha1 TrafficContract: the limits of the traffic through these clusters' tunnels. */
export interface TrafficContract extends KubeObject {
  spec: TrafficContractSpec
}

export interface TrafficContractSpec {
  /**
   * Selects clusters by their labels; an empty selector matches every cluster. At least one of the two fields
   * is set.
   */
  clusterSelector?: LabelSelectorFields
  clusterNames?: string[]
  /** If several contracts cover a cluster, the highest priority wins, then the first by name. */
  priority?: number
  /** The traffic from the cluster to the hub. If omitted, as much as the link takes. */
  uplink?: TrafficContractRate
  /** The traffic from the hub to the cluster. */
  downlink?: TrafficContractRate
  classes?: Partial<Record<TrafficClass, TrafficContractClass>>
  /** A quantity: a stream that moves more within ten seconds continues as bulk. */
  bulkAfter?: string
}

export interface TrafficContractRate {
  /** A quantity, e.g. 64k or 1Mi. */
  bytesPerSecond: string
  /** A quantity: the amount that may be sent at once after a pause. If omitted, one second's worth. */
  burst?: string
}

export interface TrafficContractClass {
  /** The share of the rate that this class gets at least while it has data waiting, whatever its priority. */
  floorPercent: number
}

export const trafficContractResource: TypedResource<TrafficContract> = Object.freeze({
  group: hubGroup,
  version: 'v1alpha1',
  resource: 'trafficcontracts',
  isNamespaced: false,
})
