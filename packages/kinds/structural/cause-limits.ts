import type { StatusCause } from '@skerry/api'

export const causeLimits = Object.freeze({
  /** The limit for one object. */
  causesMax: 200,
  /** The limit for one definition, whose schema has one place for each cause. */
  definitionCausesMax: 10_000,
  /** The length of all texts: a key of a megabyte is part of the path of every error below it. */
  textCharactersMax: 64 * 1024,
})

/** Returns true if enough was found to refuse the object; checking then stops. */
export function isFull(
  causes: readonly StatusCause[],
  causesMax: number = causeLimits.causesMax,
): boolean {
  const { field = '', message = '' } = causes.at(-1) ?? {}
  const isLong = field.length + message.length > causeLimits.textCharactersMax
  return isLong || causes.length > causesMax
}
