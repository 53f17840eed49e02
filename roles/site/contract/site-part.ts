import type { Task } from '@skerry/base'
import type { ClusterClient, EventSink } from '@skerry/client'
import type { InformerSet } from '@skerry/controller-runtime'
import type { OpenPlane, PlanePart } from '../../control-plane/plane-part.ts'

/** The control plane of a site, with everything that several of its parts share. */
export interface OpenSite extends OpenPlane {
  /** The site's API as the site itself, which may do everything. */
  readonly cluster: ClusterClient
}

/**
 * The time in which this process runs the controllers and the scheduler: for as long as it lives, or while it leads
 * the masters of the site. It has the one copy of all objects in memory that they share.
 */
export interface SiteTerm extends OpenSite {
  /** Writes through this client are refused once another master may lead. */
  readonly cluster: ClusterClient
  readonly informers: InformerSet
  readonly events: EventSink
}

/** The message of a ComponentStatus for a component that does not run in this process. */
export const elsewhere = 'not part of this process'

/** Called at the beginning of each term. Returns the work that continues until its end. */
export type LeadTerm = (term: SiteTerm) => readonly Task[]

/** One subject of a site, in a file of parts/. */
export interface SitePart extends PlanePart<OpenSite> {
  /** Called once, when the site is open; everything that its terms share is made here. */
  leads?(site: OpenSite): Promise<LeadTerm> | LeadTerm
}
