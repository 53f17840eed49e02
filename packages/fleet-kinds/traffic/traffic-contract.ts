import type { KubeObject, LabelSelectorFields } from '@skerry/api'
import type { TypedResource } from '@skerry/client'
import type { TrafficClass } from '@skerry/tunnel'
import { hubGroup } from '../access/cluster-access.ts'

/** hub.skerry.io/v1alpha1 TrafficContract: how much the tunnels of these clusters may send. */
export interface TrafficContract extends KubeObject {
  spec: TrafficContractSpec
}

export interface TrafficContractSpec {
  /** Those with these labels; an empty one selects every cluster. One of the two, or both. */
  clusterSelector?: LabelSelectorFields
  clusterNames?: string[]
  /** Of several contracts for one cluster the highest holds; then the first by name. */
  priority?: number
  /** What the cluster sends to the hub; absent: as much as the link takes. */
  uplink?: TrafficContractRate
  /** What the hub sends to the cluster. */
  downlink?: TrafficContractRate
  classes?: Partial<Record<TrafficClass, TrafficContractClass>>
  /** A quantity: a stream that moves more within ten seconds goes on as bulk. */
  bulkAfter?: string
}

export interface TrafficContractRate {
  /** A quantity, e.g. 64k or 1Mi. */
  bytesPerSecond: string
  /** A quantity: so much may go at once after a pause; absent: what goes in a second. */
  burst?: string
}

export interface TrafficContractClass {
  /** Of the rate, for this class at least while it waits, whatever comes before it. */
  floorPercent: number
}

export const trafficContractResource: TypedResource<TrafficContract> = Object.freeze({
  group: hubGroup,
  version: 'v1alpha1',
  resource: 'trafficcontracts',
  isNamespaced: false,
})
