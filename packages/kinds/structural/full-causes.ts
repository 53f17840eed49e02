import type { StatusCause } from '@skerry/api'
import { causeLimits } from '../limits-table.ts'

/** Returns true if enough was found to refuse the object; checking then stops. */
export function isFull(
  causes: readonly StatusCause[],
  causesMax: number = causeLimits.causesMax,
): boolean {
  const { field = '', message = '' } = causes.at(-1) ?? {}
  const isLong = field.length + message.length > causeLimits.textCharactersMax
  return isLong || causes.length > causesMax
}
