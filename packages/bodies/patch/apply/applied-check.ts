import { quoteGo, isJsonObject, recursionMax, type Schema, type SchemaSet } from '@skerry/api'
import { goTypeOf, printGo } from '../print-go.ts'
import { fieldElement, printPathElement } from './path-element.ts'
import { isRawExtension, memberSchema, shapeOf, shapeOfValue, type Shape } from './shape.ts'
import { bodiesBounds } from '../../limits-table.ts'

const appliedCheckLimits = bodiesBounds.appliedCheck

/**
 * Lists what makes an applied configuration unusable, in upstream's words: fields that the schema
 * does not declare, values of another type, list items without a key or with the same key.
 */
export function checkApplied(
  value: unknown,
  type: { schema: Schema; schemas: SchemaSet },
  options: { readonly allowsDuplicates?: boolean } = {},
): string[] {
  const checker = new AppliedChecker(type.schemas, {
    isCustom: type.schema.embeddedResource === true,
    allowsDuplicates: options.allowsDuplicates === true,
  })
  checker.check(value, type.schema, { path: '', isOpen: false })
  return checker.findings
}

interface Checked {
  readonly path: string
  /** True below a value that keeps unknown fields; upstream then accepts them everywhere. */
  readonly isOpen: boolean
}

class AppliedChecker {
  readonly findings: string[] = []
  readonly #schemas: SchemaSet
  readonly #isCustom: boolean
  readonly #allowsDuplicates: boolean

  constructor(
    schemas: SchemaSet,
    { isCustom, allowsDuplicates }: { isCustom: boolean; allowsDuplicates: boolean },
  ) {
    this.#schemas = schemas
    this.#isCustom = isCustom
    this.#allowsDuplicates = allowsDuplicates
  }

  check(value: unknown, schema: Schema, at: Checked): void {
    if (value === null || value === undefined) return
    const { path } = at
    const definition = schema.ref === undefined ? schema : (this.#schemas[schema.ref] ?? {})
    const isInherited = at.isOpen && schema.ref === undefined
    const isOpen = isInherited || definition.preserveUnknownFields === true
    const wanted = isRawExtension(schema) ? undefined : this.#mismatch(value, definition)
    if (wanted !== undefined) {
      this.#add(path, `expected ${wanted}`)
      return
    }
    // An atomic map is owned as a whole, but its fields are still declared.
    const shape = shapeOfValue(shapeOf(schema, this.#schemas), value)
    if (Array.isArray(value)) {
      const { items: item = {}, listMapKeys = [] } = definition
      this.#items(value, { shape, item, listMapKeys }, { path, isOpen })
    } else if (isJsonObject(value)) this.#members(value, { shape, definition }, { path, isOpen })
  }

  #members(
    map: Readonly<Record<string, unknown>>,
    type: { shape: Shape; definition: Schema },
    { path, isOpen }: Checked,
  ): void {
    const { properties, additionalProperties } = type.definition
    if (!properties && !additionalProperties) return
    const fields = { type: 'map', fields: properties, element: additionalProperties } as const
    for (const [key, member] of Object.entries(map)) {
      const below = path + printPathElement(fieldElement(key))
      const schema = memberSchema(fields, key)
      if (schema) this.check(member, schema, { path: below, isOpen })
      else if (!isOpen) {
        this.#add(below, 'field not declared in schema')
        // Upstream looks no further in this map.
        return
      }
    }
  }

  #items(
    list: readonly unknown[],
    type: { shape: Shape; item: Schema; listMapKeys: readonly string[] },
    { path, isOpen }: Checked,
  ): void {
    const { listMapKeys } = type
    const seen = new Set<string>()
    for (const [at, value] of list.entries()) {
      let element = `i:${at}`
      if (type.shape.type === 'list') {
        const found = type.shape.elementOf(value)
        if (found === undefined) {
          this.#add(path, `element ${at}: ${unaddressable(value, listMapKeys)}`)
          // Upstream looks no further in this list.
          return
        }
        if (seen.has(found) && !this.#allowsDuplicates)
          this.#add(path, `duplicate entries for key ${printPathElement(found)}`)
        seen.add(found)
        element = found
      }
      this.check(value, type.item, { path: path + printPathElement(element), isOpen })
    }
  }

  /** Returns the expected type and the actual one, or undefined if they agree. */
  #mismatch(value: unknown, definition: Schema): string | undefined {
    const isScalar = typeof value !== 'object'
    // In a definition's schema it has no type of its own.
    if (definition.intOrString && this.#isCustom) return undefined
    if (isAnyScalar(definition)) {
      return isScalar ? undefined : `any scalar, got &{${printGo(value)}}`
    }
    switch (definition.type) {
      case 'object':
        return isJsonObject(value) ? undefined : `map, got &{${printGo(value)}}`
      case 'array':
        return Array.isArray(value) ? undefined : `list, got &{${printGo(value)}}`
      case 'string':
        return typeof value === 'string'
          ? undefined
          : `string, got &value.valueUnstructured{Value:${printGot(value)}}`
      case 'integer':
      case 'number':
        return typeof value === 'number'
          ? undefined
          : `numeric (int or float), got ${goTypeOf(value)}`
      case 'boolean':
        return typeof value === 'boolean' ? undefined : `boolean, got &{${printGo(value)}}`
      case undefined:
        return undefined
    }
  }

  #add(path: string, text: string): void {
    if (this.findings.length < appliedCheckLimits.findingsMax)
      this.findings.push(`${path}: ${text}`)
  }
}

/** Explains why an item of an associative list cannot be addressed. */
function unaddressable(item: unknown, keys: readonly string[]): string {
  if (keys.length === 0) {
    if (Array.isArray(item)) return 'not supported: associative list with lists as elements'
    const what = item === null ? 'an explicit null' : 'a map type'
    return `associative list without keys has an element that's ${what}`
  }
  const start = 'associative list with keys'
  if (item === null) return `${start} may not have a null element`
  if (!isJsonObject(item)) return `${start} may not have non-map elements`
  const named = keys.map(quoteGo).join(' ')
  return `${start} has an element that omits all key fields [${named}] (and doesn't have default values for any key fields)`
}

/** Returns true for texts with a form of their own, among them times and quantities. */
function isAnyScalar({ type, format = '', intOrString }: Schema): boolean {
  if (intOrString || format === 'quantity') return true
  return type === 'string' && format !== '' && format !== 'byte'
}

/**
 * Formats a JSON value with its type as Go does. Parts that nest deeper than the stack allows are
 * left out.
 */
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
