import { fieldInvalid, fieldRequired, fieldTooLong, byteLength } from '@skerry/api'
import { checkQualifiedField, type Found } from '../checks.ts'
import { kindsBounds } from '../../limits-table.ts'

const limits = kindsBounds.provisionerChecks

/** Checks names of provisioners and drivers, which may have capital letters. */
export function checkProvisioner(name: string | undefined, field: string, found: Found): void {
  if (name) checkQualifiedField(name.toLowerCase(), field, found)
  else found.push(fieldRequired(field))
}

export function checkParameters(
  parameters: Readonly<Record<string, string>>,
  field: string,
  found: Found,
): void {
  const entries = Object.entries(parameters)
  if (entries.length > limits.parameters) {
    found.push(fieldTooLong(field, limits.parameters))
    return
  }
  let bytes = 0
  for (const [key, value] of entries) {
    if (!key) found.push(fieldInvalid(field, key, 'field can not be empty.'))
    bytes += byteLength(key) + byteLength(value)
  }
  if (bytes > limits.bytes) found.push(fieldTooLong(field, limits.bytes))
}
