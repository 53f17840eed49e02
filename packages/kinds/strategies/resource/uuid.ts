import { fieldInvalid } from '@skerry/api'
import type { Found } from '../checks.ts'

/** RFC 4122, in the one spelling that upstream takes, though its reader knows more. */
export function checkUuid(text: string, field: string, found: Found): void {
  const fault = faultOf(text)
  if (fault) found.push(fieldInvalid(field, text, fault))
}

const lengths: readonly number[] = [32, 36, 38, 45]
const digits = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/

function faultOf(text: string): string | undefined {
  const { length } = text
  if (!lengths.includes(length)) return `error validating uid: invalid UUID length: ${length}`
  if (length === 45 && !text.toLowerCase().startsWith('urn:uuid:')) {
    return `error validating uid: invalid urn prefix: ${JSON.stringify(text.slice(0, 9))}`
  }
  if (length === 38 && !(text.startsWith('{') && text.endsWith('}'))) {
    return 'error validating uid: invalid bracketed UUID format'
  }
  const bare = length === 45 ? text.slice(9) : length === 38 ? text.slice(1, -1) : text
  const isUuid = length === 32 ? /^[0-9a-fA-F]+$/.test(bare) : digits.test(bare)
  if (!isUuid) return 'error validating uid: invalid UUID format'
  if (length === 36 && text === text.toLowerCase()) return undefined
  return 'uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters'
}
