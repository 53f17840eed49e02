import { fieldTooLong } from '@skerry/api'
import { checkNotEmpty, checkSubdomainField, isLongerThan, type Found } from '../checks.ts'

export function checkPoolName(name: string, field: string, found: Found): void {
  if (!checkNotEmpty(name, field, found)) return
  if (isLongerThan(name, 253)) found.push(fieldTooLong(field, 253))
  for (const part of name.split('/')) checkSubdomainField(part, field, found)
}
