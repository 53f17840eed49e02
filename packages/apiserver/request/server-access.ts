import type { CustomResourceDefinition } from '@skerry/api'
import type { Authenticator, Authorizer } from '../contract/access.ts'
import type { AdmissionPlugin } from '../contract/admission.ts'
import type { Impersonation } from '../authn/impersonation.ts'
import type { ConvertObjects } from '../registry/kind-reader.ts'
import type { ReviewHandler } from '../contract/review.ts'
import type { SubresourceHandler } from '../contract/subresource.ts'

/** Authentication and authorization, and the admission of objects. */
export interface Access {
  /** The first authenticator that knows the caller decides; an unknown caller is system:anonymous. */
  readonly authenticators: readonly Authenticator[]
  readonly authorizers: readonly Authorizer[]
  readonly admission: readonly AdmissionPlugin[]
  /** Keyed `resource/subresource`. */
  readonly subresources: Readonly<Record<string, SubresourceHandler>>
  /** Keyed `resource.group`. */
  readonly reviews?: Readonly<Record<string, ReviewHandler>>
  readonly impersonation?: Impersonation
  /** Converts objects of custom kinds to other versions by webhook. */
  readonly converterOf?: (crd: CustomResourceDefinition) => ConvertObjects
}
