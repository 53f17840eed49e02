import type { PushPlans } from '@skerry/cluster-agent'
import type { ClusterClient } from '@skerry/client'
import type { ClusterWay, HubMetrics } from '@skerry/gateway'
import type { OpenPlane, PlanePart } from '../../control-plane/plane-part.ts'
import type { HubAudit } from './hub-audit.ts'
import type { HubConnections } from './hub-connections.ts'

/** The control plane of a hub, with everything that several of its parts share. */
export interface OpenHub extends OpenPlane {
  /** The hub's API as the hub itself, which may do everything. */
  readonly cluster: ClusterClient
  readonly connections: HubConnections
  /** The way to every cluster: by tunnels, through its parent, or dialled. */
  readonly way: ClusterWay
  /** Returns how to dial clusters in push mode. */
  readonly planOf: PushPlans
  readonly metrics: HubMetrics
  readonly audit: HubAudit
}

/** One subject of a hub, in a file of parts/. */
export interface HubPart extends PlanePart<OpenHub> {
  /** The resources whose objects need others of their namespace to end: when it is deleted, they go first. */
  readonly endFirst?: readonly { readonly group: string; readonly resource: string }[]
}
