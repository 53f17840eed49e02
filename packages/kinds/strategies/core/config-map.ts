import {
  byteLength,
  checkConfigKey,
  fieldForbidden,
  fieldInvalid,
  fieldTooLong,
  type ConfigMap,
  type StatusCause,
} from '@skerry/api'
import { decodedLength } from '../base64.ts'
import { addInvalid, isSame, type Found } from '../checks.ts'
import { strategyOf, type LooseObject } from '../typed-strategy.ts'
import { dataBytesMax } from '../../limits-table.ts'

export const configMapStrategy = strategyOf<ConfigMap>({
  hasGeneration: false,
  validate: validateConfigMap,
  validateUpdate(next, old) {
    const found: Found = []
    checkImmutable(next, old, ['data', 'binaryData'], found)
    return [...found, ...validateConfigMap(next)]
  },
})

function validateConfigMap(map: LooseObject<ConfigMap>): StatusCause[] {
  const found: Found = []
  const { data = {}, binaryData = {} } = map
  let bytes = 0
  for (const [key, value] of Object.entries(data)) {
    addInvalid(found, `data[${key}]`, key, checkConfigKey(key))
    if (Object.hasOwn(binaryData, key)) {
      const detail = 'duplicate of key present in binaryData'
      found.push(fieldInvalid(`data[${key}]`, key, detail))
    }
    bytes += byteLength(value)
  }
  for (const [key, value] of Object.entries(binaryData)) {
    addInvalid(found, `binaryData[${key}]`, key, checkConfigKey(key))
    bytes += decodedLength(value)
  }
  if (bytes > dataBytesMax) found.push(fieldTooLong('[]', dataBytesMax))
  return found
}

/** An object that was declared immutable stays so, with all its data. */
export function checkImmutable<T extends { immutable?: boolean }>(
  next: T,
  old: T,
  fields: readonly (keyof T & string)[],
  found: Found,
): void {
  if (!old.immutable) return
  const detail = 'field is immutable when `immutable` is set'
  if (!next.immutable) found.push(fieldForbidden('immutable', detail))
  for (const field of fields) {
    if (!isSame(next[field], old[field])) found.push(fieldForbidden(field, detail))
  }
}
