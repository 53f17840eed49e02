import type { Authorizer } from '../contract/access.ts'
import type { AdmissionRequest } from '../contract/admission.ts'
import type { Objects } from '../contract/objects.ts'

/** A write by a node, as the checks of NodeRestriction see it. */
export interface NodeWrite {
  readonly request: AdmissionRequest
  readonly nodeName: string
  readonly objects: Objects
  readonly authorizer: Authorizer
}
