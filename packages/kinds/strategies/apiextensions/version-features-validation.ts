import {
  fieldInvalid,
  fieldRequired,
  type CustomResourceColumnDefinition,
  type CustomResourceSubresources,
} from '@skerry/api'
import { checkNotEmpty, type Found } from '../checks.ts'
import type { Loose } from '../typed-strategy.ts'

export function checkSubresources(
  subresources: Loose<CustomResourceSubresources> | undefined,
  path: string,
  found: Found,
): void {
  const scale = subresources?.scale
  if (!scale) return
  const required = [
    ['specReplicasPath', '.spec'],
    ['statusReplicasPath', '.status'],
  ] as const
  for (const [name, root] of required) {
    const value = scale[name] ?? ''
    const field = `${path}.scale.${name}`
    if (!checkNotEmpty(value, field, found) || !checkPath(value, field, found)) continue
    if (!value.startsWith(`${root}.`)) {
      found.push(fieldInvalid(field, value, `should be a json path under ${root}`))
    }
  }
  const selector = scale.labelSelectorPath
  const field = `${path}.scale.labelSelectorPath`
  if (!selector || !checkPath(selector, field, found)) return
  if (selector.startsWith('.spec.') || selector.startsWith('.status.')) return
  found.push(fieldInvalid(field, selector, 'should be a json path under either .spec or .status'))
}

function checkPath(path: string, field: string, found: Found): boolean {
  if (path.startsWith('.')) return true
  found.push(fieldInvalid(field, path, 'must be a simple json path starting with .'))
  return false
}

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string']
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']

export function checkColumns(
  columns: readonly Loose<CustomResourceColumnDefinition>[],
  field: string,
  found: Found,
): void {
  for (const [at, column] of columns.entries()) {
    const path = `${field}[${at}]`
    const { type = '', format = '', jsonPath = '' } = column
    checkNotEmpty(column.name, `${path}.name`, found)
    const types = `must be one of ${columnTypes.join(',')}`
    if (!type) found.push(fieldRequired(`${path}.type`, types))
    else if (!columnTypes.includes(type)) found.push(fieldInvalid(`${path}.type`, type, types))
    if (format && !columnFormats.includes(format)) {
      const detail = `must be one of ${columnFormats.join(',')}`
      found.push(fieldInvalid(`${path}.format`, format, detail))
    }
    if (checkNotEmpty(jsonPath, `${path}.JSONPath`, found)) {
      checkPath(jsonPath, `${path}.JSONPath`, found)
    }
  }
}
