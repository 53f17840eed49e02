import { checkPathSegment, fieldInvalid, type CrossVersionObjectReference } from '@skerry/api'
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

/** The group may be missing for an object of the core group. */
export function checkObjectVersion(
  { apiVersion = '' }: Loose<CrossVersionObjectReference>,
  { path, mayBeCore }: { path: string; mayBeCore: boolean },
  found: Found,
): void {
  const parts = apiVersion.split('/')
  const isCore = parts.length === 1 || parts[0] === ''
  if (parts.length > 2) {
    const detail = `unexpected GroupVersion string: ${apiVersion}`
    found.push(fieldInvalid(`${path}.apiVersion`, apiVersion, detail))
  } else if (isCore && !mayBeCore) {
    const detail = 'apiVersion must specify API group'
    found.push(fieldInvalid(`${path}.apiVersion`, apiVersion, detail))
  }
}
