import { StatusError } from '@skerry/api'
import type { Logger } from '@skerry/base'

/** Reports that a request failed because the stored bytes of an object cannot be read. */
class UnreadableObjectError extends Error {
  override name = 'UnreadableObjectError'
  /** The object's name, such as `namespaces "default"`. */
  readonly object: string
  readonly reason: string

  constructor(object: string, reason: string) {
    super(`Cannot read ${object}: ${reason}`)
    this.object = object
    this.reason = reason
  }
}

/** Reports the server's own fault, in upstream's words. `shown` defaults to the reason. */
export function unreadableObject(
  { resource, name }: { resource: string; name: string },
  reason: string,
  shown = reason,
): StatusError {
  const object = `${resource} ${JSON.stringify(name)}`
  return new StatusError('InternalError', `Internal error occurred: ${shown}`, {
    details: { causes: [{ message: shown }] },
    cause: new UnreadableObjectError(object, reason),
  })
}

/**
 * Runs one step of a start. If it fails because an object cannot be read, logs the object and what
 * to do, and continues, because the object can be deleted unread only while the server runs.
 */
export async function goOnPastUnreadable(
  log: Pick<Logger, 'error'>,
  step: () => Promise<void>,
): Promise<void> {
  try {
    await step()
  } catch (error) {
    const { cause } = error instanceof Error ? error : {}
    if (!(cause instanceof UnreadableObjectError)) throw error
    const { object, reason } = cause
    log.error('Stored object cannot be read', { object, reason, remedy })
  }
}

const remedy =
  'restore a backup, or delete the object with ignoreStoreReadErrorWithClusterBreakingPotential and start again'
