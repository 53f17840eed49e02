import { quoteGo } from '../../field-error.ts'
import { isJsonObject, recursionMax } from '../../json.ts'
import type { Schema, SchemaSet } from '../../schema.ts'
import { fieldElement, printPathElement } from './path-element.ts'
import { memberSchema, shapeOf, shapeOfValue, type Shape } from './shape.ts'

export const appliedCheckLimits = Object.freeze({ findingsMax: 100 })

/**
 * What makes an applied configuration unusable, in upstream's words: fields that the schema does
 * not declare, values of another type, list items without or with the same key.
 */
export function checkApplied(
  value: unknown,
  type: { schema: Schema; schemas: SchemaSet },
): string[] {
  const checker = new AppliedChecker(type.schemas)
  checker.check(value, type.schema, '')
  return checker.findings
}

class AppliedChecker {
  readonly findings: string[] = []
  readonly #schemas: SchemaSet

  constructor(schemas: SchemaSet) {
    this.#schemas = schemas
  }

  check(value: unknown, schema: Schema, path: string): void {
    if (value === null || value === undefined) return
    const definition = schema.ref === undefined ? schema : (this.#schemas[schema.ref] ?? {})
    const wanted = this.#mismatch(value, definition)
    if (wanted !== undefined) {
      this.#add(path, `expected ${wanted}`)
      return
    }
    // An atomic map is owned as a whole, but its fields are declared all the same.
    const shape = shapeOfValue(shapeOf(schema, this.#schemas), value)
    if (Array.isArray(value)) {
      const { items: item = {}, listMapKeys = [] } = definition
      this.#items(value, { shape, item, listMapKeys }, path)
    } else if (isJsonObject(value)) this.#members(value, { shape, definition }, path)
  }

  #members(
    map: Readonly<Record<string, unknown>>,
    type: { shape: Shape; definition: Schema },
    path: string,
  ): void {
    const { properties, additionalProperties, preserveUnknownFields } = type.definition
    if (!properties && !additionalProperties) return
    const fields = { type: 'map', fields: properties, element: additionalProperties } as const
    for (const [key, member] of Object.entries(map)) {
      const below = path + printPathElement(fieldElement(key))
      const schema = memberSchema(fields, key)
      if (schema) this.check(member, schema, below)
      else if (!preserveUnknownFields) this.#add(below, 'field not declared in schema')
    }
  }

  #items(
    list: readonly unknown[],
    type: { shape: Shape; item: Schema; listMapKeys: readonly string[] },
    path: string,
  ): void {
    const { listMapKeys } = type
    const seen = new Set<string>()
    list.forEach((value, at) => {
      let element = `i:${at}`
      if (type.shape.type === 'list') {
        const found = type.shape.elementOf(value)
        if (found === undefined) {
          const what = isJsonObject(value)
            ? `has an element that omits all key fields [${listMapKeys.map(quoteGo).join(' ')}] (and doesn't have default values for any key fields)`
            : 'may not have non-map elements'
          this.#add(path, `element ${at}: associative list with keys ${what}`)
          return
        }
        if (seen.has(found)) this.#add(path, `duplicate entries for key ${printPathElement(found)}`)
        seen.add(found)
        element = found
      }
      this.check(value, type.item, path + printPathElement(element))
    })
  }

  /** The type that was expected and what came instead; undefined when they agree. */
  #mismatch(value: unknown, definition: Schema): string | undefined {
    const isScalar = typeof value !== 'object'
    if (definition.format === 'quantity' || definition.intOrString) {
      return isScalar ? undefined : `any scalar, got ${printGot(value)}`
    }
    switch (definition.type) {
      case 'object':
        return isJsonObject(value) ? undefined : `map, got &{${printGot(value)}}`
      case 'array':
        return Array.isArray(value) ? undefined : `list, got &{${printGot(value)}}`
      case 'string':
        return typeof value === 'string'
          ? undefined
          : `string, got &value.valueUnstructured{Value:${printGot(value)}}`
      case 'integer':
      case 'number':
        return typeof value === 'number'
          ? undefined
          : `numeric (int or float), got ${typeof value === 'boolean' ? 'bool' : typeof value}`
      case 'boolean':
        return typeof value === 'boolean' ? undefined : `boolean, got &{${printGot(value)}}`
      case undefined:
        return undefined
    }
  }

  #add(path: string, text: string): void {
    if (this.findings.length < appliedCheckLimits.findingsMax)
      this.findings.push(`${path}: ${text}`)
  }
}

/** As Go prints a JSON value with its type; what lies deeper than a stack is safe for is left out. */
function printGot(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) {
    return `[]interface {}{${value.map((item) => printInner(item, depth)).join(', ')}}`
  }
  if (!isJsonObject(value)) return JSON.stringify(value)
  const fields = Object.keys(value)
    .toSorted()
    .map((key) => `${quoteGo(key)}:${printInner(value[key], depth)}`)
  return `map[string]interface {}{${fields.join(', ')}}`
}

function printInner(value: unknown, depth: number): string {
  if (typeof value === 'string') return quoteGo(value)
  if (value === null) return 'interface {}(nil)'
  return depth < recursionMax ? printGot(value, depth + 1) : '...'
}
