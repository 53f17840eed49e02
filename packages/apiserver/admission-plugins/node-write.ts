import type { Authorizer } from '../access.ts'
import type { AdmissionRequest } from '../admission.ts'
import type { Objects } from '../objects.ts'

/** A write by a node, as the checks of NodeRestriction see it. */
export interface NodeWrite {
  readonly request: AdmissionRequest
  readonly nodeName: string
  readonly objects: Objects
  readonly authorizer: Authorizer
}
