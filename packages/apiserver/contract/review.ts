import type { AnyObject } from '@skerry/api'
import type { UserInfo } from './access.ts'

/** Handles a create of a kind that is answered and never stored, e.g. TokenReview. */
export interface ReviewRequest {
  /** The decoded and defaulted object. The handler answers with a copy that has a status. */
  readonly object: AnyObject
  /** The namespace; empty for cluster-scoped kinds. */
  readonly namespace: string
  readonly user: UserInfo
  readonly isDryRun: boolean
  /** Runs validating admission. The handler calls it once it finds no error in the object itself. */
  readonly admitValid: () => Promise<void>
  readonly signal: AbortSignal
}

/** The key in the table of handlers is `resource.group`, e.g. tokenreviews.authentication.k8s.io. */
export interface ReviewHandler {
  review(request: ReviewRequest): Promise<AnyObject>
}
