import { fieldNotSupported, type StatusCause } from '@skerry/api'
import type { EdgeOptions } from './edge-options.ts'

/** Refuses a version of the program that the hub does not have, and lists those that it has. */
export function versionCauses(
  { version }: Pick<EdgeOptions, 'version'>,
  offered: readonly string[],
  field = 'spec.version',
): StatusCause[] {
  if (version === undefined || offered.includes(version)) return []
  return [fieldNotSupported(field, version, [...offered])]
}
