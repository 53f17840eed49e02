import type { CrossVersionObjectReference } from '../../generated/types.ts'
import { checkPathSegment } from '../../names.ts'
import { addInvalid, checkNotEmpty, type Found } from '../checks.ts'
import type { Loose } from '../typed-strategy.ts'

export function checkObjectReference(
  reference: Loose<CrossVersionObjectReference>,
  path: string,
  found: Found,
): void {
  for (const name of ['kind', 'name'] as const) {
    const value = reference[name] ?? ''
    if (!checkNotEmpty(value, `${path}.${name}`, found)) continue
    addInvalid(found, `${path}.${name}`, value, checkPathSegment(value))
  }
}
