import type { AnyObject } from '@skerry/api'
import type { RequestScope } from './request-scope.ts'

/**
 * Reserves resources that a kind needs outside its own record, e.g. addresses for Services. Runs
 * after the strategy and before validation, and may change `next` in place. The reservation is
 * rolled back if the write does not happen, and always in a dry run.
 */
export interface Interceptor {
  onCreate(next: AnyObject, scope: RequestScope): Reservation
  onUpdate(next: AnyObject, old: AnyObject, scope: RequestScope): Reservation
  onDeleted(old: AnyObject): void
}

export interface Reservation {
  /** Called once the write is durable. */
  commit(): void
  rollback(): void
}
