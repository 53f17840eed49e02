import type { Authenticator, Authorizer } from './contract/access.ts'
import type { AdmissionPlugin } from './contract/admission.ts'
import type { ReviewHandler } from './contract/review.ts'
import type { Impersonation } from './authn/impersonation.ts'
import type { TokenAuthenticator } from './authn/token-authenticator.ts'
import type { FurtherRules } from './authz/rules-review.ts'

/** The additions of one part of a server to the usual checks. */
export interface ExtraAccess {
  /** Asked after the usual authorizers. */
  readonly authorizers?: readonly Authorizer[]
  /** Returns the rights that those authorizers give a user who asks for them. If omitted, there are none. */
  readonly furtherRules?: FurtherRules
  /** Authenticators of tokens that only this server knows, asked before those of issuers. */
  readonly tokens?: readonly TokenAuthenticator[]
  /** Returns plugins that run after the default ones; some of them need the authorizer. */
  readonly admission?: (authorizer: Authorizer) => readonly AdmissionPlugin[]
  /** May refuse certificates that the authority has signed. */
  readonly certificates?: (usual: Authenticator) => Authenticator
  /** May add to the identity of authenticated users. */
  readonly callers?: (usual: Authenticator) => Authenticator
  /** May let users impersonate others where RBAC does not. */
  readonly impersonation?: (usual: Impersonation, authorizer: Authorizer) => Impersonation
  /** Kinds of this server alone that are answered and not stored, keyed `resource.group`. */
  readonly reviews?: Readonly<Record<string, ReviewHandler>>
}

/** Joins the additions of several parts in their order; the first part is asked first. */
export function joinedAccess(parts: readonly ExtraAccess[]): Required<ExtraAccess> {
  return {
    authorizers: parts.flatMap(({ authorizers = [] }) => authorizers),
    furtherRules: (user) => parts.flatMap(({ furtherRules }) => furtherRules?.(user) ?? []),
    tokens: parts.flatMap(({ tokens = [] }) => tokens),
    admission: (authorizer) => parts.flatMap(({ admission }) => admission?.(authorizer) ?? []),
    certificates: (usual) =>
      parts.reduce((inner, { certificates }) => certificates?.(inner) ?? inner, usual),
    callers: (usual) => parts.reduce((inner, { callers }) => callers?.(inner) ?? inner, usual),
    impersonation: (usual, authorizer) =>
      parts.reduce(
        (inner, { impersonation }) => impersonation?.(inner, authorizer) ?? inner,
        usual,
      ),
    reviews: Object.assign({}, ...parts.map(({ reviews }) => reviews)),
  }
}
