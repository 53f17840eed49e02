import type { Span } from '@skerry/base'
import type { Authorizer, UserInfo } from './access.ts'
import type { Annotate } from './admission.ts'
import type { ApiRequest } from './exchange.ts'
import type { RequestInfo } from './request-info.ts'

/** The rights that a request needs in addition to its verb, for as long as it lasts. */
export interface RequestRights {
  /**
   * Throws Forbidden unless the user may also use this verb. For requests that do more than their
   * verb implies.
   */
  readonly requireVerb: (verb: string) => Promise<void>
  /** Throws Unauthorized or Forbidden if the request would not be allowed now. */
  readonly mayGoOn: () => Promise<void>
}

/** An authorized request. */
export interface AuthorizedRequest extends RequestRights {
  readonly request: ApiRequest
  readonly info: RequestInfo
  readonly user: UserInfo
  /** For handlers that must know what else this user may do. */
  readonly authorizer: Authorizer
  /** The id in the answer's Audit-Id header and in the audit record. */
  readonly auditId: string
  readonly warn: (text: string) => void
  /** Adds an annotation to the audit event. Omitted if none is written. */
  readonly annotate?: Annotate
  /** The request's span. Omitted if nothing is traced. */
  readonly trace?: Span
  /** Aborts when the client is gone or the request's time is over. */
  readonly signal: AbortSignal
}
