import type { ClusterClient, EventSink } from '@skerry/client'
import type { InformerSet } from '@skerry/controller-runtime'
import type { OpenPlane, PlanePart } from '../../control-plane/plane-part.ts'

/** The control plane of a site, with the one copy of all objects in memory that several of its parts share. */
export interface OpenSite extends OpenPlane {
  /** The site's API as the site itself, which may do everything. */
  readonly cluster: ClusterClient
  readonly informers: InformerSet
  readonly events: EventSink
}

/** The message of a ComponentStatus for a component that does not run in this process. */
export const elsewhere = 'not part of this process'

/** One subject of a site, in a file of parts/. */
export type SitePart = PlanePart<OpenSite>
