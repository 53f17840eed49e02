import type { Span } from '@skerry/base'
import type { Authorizer, UserInfo } from './access.ts'
import type { Annotate } from './admission.ts'
import type { ApiRequest } from './exchange.ts'
import type { RequestInfo } from './request-info.ts'

/** Rights that one request needs in addition to its own verb's, and needs as long as it lasts. */
export interface RequestRights {
  /** Throws Forbidden unless the user may also do this verb; for what does more than its own verb says. */
  readonly requireVerb: (verb: string) => Promise<void>
  /** Throws Unauthorized or Forbidden when the request would not be let in now. */
  readonly mayGoOn: () => Promise<void>
}

/** An authorized request. */
export interface AuthorizedRequest extends RequestRights {
  readonly request: ApiRequest
  readonly info: RequestInfo
  readonly user: UserInfo
  /** For those who must know what else this user may do. */
  readonly authorizer: Authorizer
  /** Also in the answer's Audit-Id header and in the audit record. */
  readonly auditId: string
  readonly warn: (text: string) => void
  /** Into the audit event; absent where none is written. */
  readonly annotate?: Annotate
  /** Its span; absent where nothing is traced. */
  readonly trace?: Span
  /** Aborts when the client is gone or the time for the request is over. */
  readonly signal: AbortSignal
}
