import type { AnyObject } from '@skerry/api'
import type { UserInfo } from './access.ts'

/** A create of a kind that is answered and never stored, e.g. TokenReview. */
export interface ReviewRequest {
  /** Decoded and defaulted; the handler answers with a copy that has a status. */
  readonly object: AnyObject
  /** Empty for cluster-wide kinds. */
  readonly namespace: string
  readonly user: UserInfo
  readonly isDryRun: boolean
  /** Admission that only looks; the handler calls it once it finds nothing wrong with the object itself. */
  readonly admitValid: () => Promise<void>
  readonly signal: AbortSignal
}

/** The key in the table of handlers is `resource.group`, e.g. tokenreviews.authentication.k8s.io. */
export interface ReviewHandler {
  review(request: ReviewRequest): Promise<AnyObject>
}
