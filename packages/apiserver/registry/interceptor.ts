import type { AnyObject } from '@skerry/api'
import type { RequestScope } from './request-scope.ts'

/**
 * Takes what a kind needs besides its own record, e.g. addresses for Services. Runs after the
 * strategy and before validation; may change `next` in place. What it returns is undone when the
 * write does not happen; dry runs are always undone.
 */
export interface Interceptor {
  onCreate(next: AnyObject, scope: RequestScope): Reservation
  onUpdate(next: AnyObject, old: AnyObject, scope: RequestScope): Reservation
  onDeleted(old: AnyObject): void
}

export interface Reservation {
  /** The write is durable. */
  commit(): void
  rollback(): void
}
