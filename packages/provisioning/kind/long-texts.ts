import { fieldInvalid, type StatusCause } from '@skerry/api'
import { edgeClusterBounds } from '../limits-table.ts'

const { textCharsMax } = edgeClusterBounds

/** Returns an error for each text of a value that is longer than any field of machines needs. Its content is not repeated. */
export function longTextCauses(value: unknown, field: string): StatusCause[] {
  if (typeof value === 'string') {
    if (value.length <= textCharsMax) return []
    const why = `must be no more than ${textCharsMax} characters`
    return [fieldInvalid(field, `${value.length} characters`, why)]
  }
  if (Array.isArray(value)) {
    return value.flatMap((each, at) => longTextCauses(each, `${field}[${at}]`))
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, each]) => longTextCauses(each, `${field}.${name}`))
}
