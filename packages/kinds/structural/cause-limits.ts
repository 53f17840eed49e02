import type { StatusCause } from '@skerry/api'

export const causeLimits = Object.freeze({
  /** Of one object. */
  causesMax: 200,
  /** Of one definition; its schema has one place for each. */
  definitionCausesMax: 10_000,
  /** A key of a megabyte stands in the path of everything that is wrong below it. */
  textCharactersMax: 64 * 1024,
})

/** Has enough been found to refuse the object? What comes after is not looked for. */
export function isFull(
  causes: readonly StatusCause[],
  causesMax: number = causeLimits.causesMax,
): boolean {
  const { field = '', message = '' } = causes.at(-1) ?? {}
  const isLong = field.length + message.length > causeLimits.textCharactersMax
  return isLong || causes.length > causesMax
}
