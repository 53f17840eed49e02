import { fieldInvalid, fieldTooLong } from '@skerry/api'
import { isLongerThan, type Found } from '../checks.ts'
import { checkCsiDriverName } from '../core/pod-spec-validation/csi-driver-name.ts'
import { kindsBounds } from '../../limits-table.ts'

const { idBytesMax } = kindsBounds.deviceName

/** Checks `name` or `domain/name` of an attribute or a capacity. */
export function checkDeviceKey(key: string, field: string, found: Found): void {
  const parts = key.split('/')
  if (parts.length > 2) return
  const [domain, id = ''] = parts.length === 2 ? parts : [undefined, key]
  if (domain === '') found.push(fieldInvalid(field, '', 'the domain must not be empty'))
  else if (domain !== undefined) checkCsiDriverName(domain, field, found)
  if (id === '' && domain !== undefined) {
    found.push(fieldInvalid(field, '', 'the name must not be empty'))
    return
  }
  if (isLongerThan(id, idBytesMax)) found.push(fieldTooLong(field, idBytesMax))
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(id)) return
  const rule = "a valid C identifier must start with alphabetic character or '_'"
  const detail = `${rule}, followed by a string of alphanumeric characters or '_'`
  const example = "(e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is"
  found.push(fieldInvalid(field, id, `${detail} ${example} '[A-Za-z_][A-Za-z0-9_]*')`))
}

/** The name must include its domain. */
export function checkFullName(name: string, field: string, found: Found): void {
  checkDeviceKey(name, field, found)
  if (name.includes('/')) return
  const detail = 'a fully qualified name must be a domain and a name separated by a slash'
  found.push(fieldInvalid(field, name, detail))
}
