import type { CustomResourceDefinition } from '@skerry/api'
import type { Authenticator, Authorizer } from '../contract/access.ts'
import type { AdmissionPlugin } from '../contract/admission.ts'
import type { Impersonation } from '../authn/impersonation.ts'
import type { ConvertObjects } from '../registry/kind-reader.ts'
import type { ReviewHandler } from '../contract/review.ts'
import type { SubresourceHandler } from '../contract/subresource.ts'

/** Who may do what, and what is done to objects on their way in. */
export interface Access {
  /** The first that knows the caller decides; a caller that none knows is system:anonymous. */
  readonly authenticators: readonly Authenticator[]
  readonly authorizers: readonly Authorizer[]
  readonly admission: readonly AdmissionPlugin[]
  /** Keyed `resource/subresource`. */
  readonly subresources: Readonly<Record<string, SubresourceHandler>>
  /** Keyed `resource.group`. */
  readonly reviews?: Readonly<Record<string, ReviewHandler>>
  readonly impersonation?: Impersonation
  /** Objects of custom kinds in other versions, where a webhook converts them. */
  readonly converterOf?: (crd: CustomResourceDefinition) => ConvertObjects
}
