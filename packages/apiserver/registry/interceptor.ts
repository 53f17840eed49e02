import { StatusError, type AnyObject, type Kind } from '@skerry/api'
import type { CompanionWrite } from '@skerry/store'
import type { RequestScope } from './request-scope.ts'

/**
 * Reserves resources that a kind needs outside its own record, e.g. addresses for Services. Runs
 * after the strategy and before validation, and may change `next` in place. The reservation is
 * rolled back if the write does not happen, and always in a dry run. If another server on the same store was
 * faster with one of the resources, the request asks again.
 */
export interface Interceptor {
  onCreate(next: AnyObject, scope: RequestScope): Reservation
  onUpdate(next: AnyObject, old: AnyObject, scope: RequestScope): Reservation
  /** Returns the writes that must happen together with the object's removal. */
  onDelete(old: AnyObject): readonly CompanionWrite[]
}

export interface Reservation {
  /** The writes that must happen together with the object's own. */
  readonly companions: readonly CompanionWrite[]
  /** Called once the write is durable. */
  commit(): void
  rollback(): void
}

/** Stands for a write that did not happen because another server on the store has taken a resource. */
export const reservationLost = Symbol('reservationLost')

/** Most kinds reserve nothing: their writes stay as small as they are. */
export function companionsOf(reservation: Reservation | undefined): {
  readonly companions?: readonly CompanionWrite[]
} {
  const { companions = [] } = reservation ?? {}
  return companions.length > 0 ? { companions } : {}
}

/** Returns the refusal of a request that lost its reservation again and again. */
export function tooContended({ resource }: Kind): StatusError {
  const message = `Timeout: other servers were faster with addresses for ${resource}, again and again`
  return new StatusError('Timeout', message, { details: { retryAfterSeconds: 1 } })
}
