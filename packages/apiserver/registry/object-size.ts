import { isLongerAsJson, StatusError } from '@skerry/api'
import type { ApiServerLimits } from '../limits-table.ts'

type SizeLimit = Pick<ApiServerLimits, 'objectBytesMax'>

/**
 * Refuses early what the store would refuse at the end, because admission and validation may take a
 * second. A dry run is refused like a write. Throws StatusError RequestEntityTooLarge.
 */
export function requireStorable(object: object, { objectBytesMax }: SizeLimit): void {
  if (isLongerAsJson(object, objectBytesMax)) throw tooLarge(objectBytesMax)
}

/** Does the same for the bytes to store. */
export function requireStored({ length }: Uint8Array, { objectBytesMax }: SizeLimit): void {
  if (length > objectBytesMax) throw tooLarge(objectBytesMax)
}

function tooLarge(objectBytesMax: number): StatusError {
  const message = `Request entity too large: limit for a stored object is ${objectBytesMax} bytes`
  return new StatusError('RequestEntityTooLarge', message)
}
