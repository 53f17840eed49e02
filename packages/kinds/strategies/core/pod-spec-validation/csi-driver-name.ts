import { fieldTooLong, checkDnsSubdomain } from '@skerry/api'
import { addInvalid, checkNotEmpty, type Found } from '../../checks.ts'

export function checkCsiDriverName(name: string, field: string, found: Found): void {
  if (!checkNotEmpty(name, field, found)) return
  if (name.length > 63) found.push(fieldTooLong(field, 63))
  addInvalid(found, field, name, checkDnsSubdomain(name.toLowerCase()))
}
