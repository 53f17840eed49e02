import { isLongerAsJson, StatusError } from '@skerry/api'
import type { ApiServerLimits } from '../contract/limits-table.ts'

type SizeLimit = Pick<ApiServerLimits, 'objectBytesMax'>

/**
 * Refuses early what the store would refuse at the end, as admission and validation of it may take a second; a dry run
 * is refused like a write. Throws StatusError RequestEntityTooLarge.
 */
export function requireStorable(object: object, { objectBytesMax }: SizeLimit): void {
  if (isLongerAsJson(object, objectBytesMax)) throw tooLarge(objectBytesMax)
}

/** The same for the bytes as they would be stored. */
export function requireStored({ length }: Uint8Array, { objectBytesMax }: SizeLimit): void {
  if (length > objectBytesMax) throw tooLarge(objectBytesMax)
}

function tooLarge(objectBytesMax: number): StatusError {
  const message = `Request entity too large: limit for a stored object is ${objectBytesMax} bytes`
  return new StatusError('RequestEntityTooLarge', message)
}
