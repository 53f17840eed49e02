import { fieldInvalid, fieldRequired, checkDns1035Label } from '@skerry/api'
import { addInvalid, type Found } from '../checks.ts'

const accepted = ['v1', 'v1beta1']

export function checkConversionVersions(
  versions: readonly string[],
  field: string,
  found: Found,
): void {
  if (versions.length === 0) {
    found.push(fieldRequired(field))
    return
  }
  for (const [at, version] of versions.entries()) {
    const path = `${field}[${at}]`
    if (versions.indexOf(version) < at) found.push(fieldInvalid(path, version, 'duplicate version'))
    else addInvalid(found, path, version, checkDns1035Label(version))
  }
  if (versions.some((version) => accepted.includes(version))) return
  const detail = `must include at least one of ${accepted.join(', ')}`
  found.push(fieldInvalid(field, versions, detail))
}
