import { ageOf, type Column, type CustomResourceColumnDefinition } from '@skerry/api'
import { columnsOf, nameCell, type Cell } from './column.ts'
import { evaluateJsonPath, parseJsonPath, type JsonPath } from './json-path.ts'

const ageColumn: CustomResourceColumnDefinition = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
}

/**
 * Returns the columns of a CRD's version: the name, then its additionalPrinterColumns, or the age
 * if it has none. An unreadable path yields blank cells; the CRD's validation reports it.
 */
export function customColumns(
  definitions: readonly CustomResourceColumnDefinition[] | undefined,
): readonly Column[] {
  const wanted = definitions && definitions.length > 0 ? definitions : [ageColumn]
  return [...columnsOf([nameCell]), ...wanted.map(customColumn)]
}

function customColumn(definition: CustomResourceColumnDefinition): Column {
  const { name, type, format = '', description, priority = 0, jsonPath } = definition
  const path = readablePath(jsonPath)
  return {
    name,
    type: columnType(type),
    format,
    description:
      description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
    priority,
    cell: (object, nowMs) => {
      const found = path ? firstFound(path, object) : []
      return found.length === 0 ? null : cellOf(type, found[0], nowMs)
    },
  }
}

function readablePath(text: string): JsonPath | undefined {
  try {
    return parseJsonPath(text)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** A path that does not fit the object finds nothing. */
function firstFound(path: JsonPath, object: unknown): unknown[] {
  try {
    return evaluateJsonPath(path, object).slice(0, 1)
  } catch (error) {
    if (error instanceof RangeError) return []
    throw error
  }
}

/** The CRD's validation allows only these types. */
function columnType(type: string): Column['type'] {
  switch (type) {
    case 'integer':
    case 'number':
    case 'boolean':
    case 'date':
      return type
    default:
      return 'string'
  }
}

/** A value of another type than the column's is left out. */
function cellOf(type: string, value: unknown, nowMs: number): Cell {
  switch (type) {
    case 'string':
      return textOf(value)
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null
    case 'number':
      return typeof value === 'number' ? value : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'date':
      return typeof value === 'string' ? dateText(value, nowMs) : null
    default:
      return null
  }
}

/** Formats JSON like upstream's encoder: sorted, and with HTML's special characters escaped. */
function textOf(value: unknown): string {
  if (value === null) return '<no value>'
  if (typeof value === 'string') return value
  const escape = (character: string) => `\\u00${character.charCodeAt(0).toString(16)}`
  return JSON.stringify(sorted(value)).replaceAll(/[<>&]/g, escape)
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sorted)
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, member]) => [key, sorted(member)]))
}

function dateText(value: string, nowMs: number): string {
  return Number.isNaN(Date.parse(value)) ? '<invalid>' : ageOf(value, nowMs)
}
