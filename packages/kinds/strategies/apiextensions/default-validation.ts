import { expressions } from '../../expressions/expressions.ts'
import {
  fieldInvalid,
  cloneJson,
  equalJson,
  isJsonObject,
  type JsonObject,
  type Schema,
  type StatusCause,
} from '@skerry/api'
import { schemaFromCrd } from '../../schema/crd-schema.ts'
import { pruneStructural } from '../../structural/prune.ts'
import { validateStructural } from '../../structural/validate.ts'
import type { Found } from '../checks.ts'

/** Every default of a structural schema must itself satisfy the schema and its rules. */
export function checkDefaults(openAPIV3Schema: JsonObject, path: string, found: Found): void {
  const { schemas, schemaName } = schemaFromCrd(openAPIV3Schema)
  const schema = schemas[schemaName]
  if (schema) checkBelow(schema, openAPIV3Schema, { path, found })
}

interface At {
  readonly path: string
  readonly found: Found
}

function checkBelow(schema: Schema, props: Readonly<JsonObject>, { path, found }: At): void {
  if (schema.default !== undefined) checkDefault(schema, { path: `${path}.default`, found })
  const { items, properties } = props
  if (schema.items && isJsonObject(items)) {
    checkBelow(schema.items, items, { path: `${path}.items`, found })
  }
  for (const [key, below] of Object.entries(isJsonObject(properties) ? properties : {})) {
    const property = schema.properties?.[key]
    // The schema's own metadata is replaced by the shared one, so it has no defaults of its own.
    if (!property || property.ref !== undefined || !isJsonObject(below)) continue
    checkBelow(property, below, { path: `${path}.properties[${key}]`, found })
  }
}

function checkDefault(schema: Schema, { path, found }: At): void {
  const value = schema.default
  const pruned = cloneJson(value)
  pruneStructural(pruned, schema)
  if (!equalJson(pruned, value))
    found.push(fieldInvalid(path, value, 'must not have unknown fields'))
  const causes = validateStructural(schema, value)
  const { compileRuleSet, evaluateRules } = expressions()
  const rules = causes.length === 0 ? compileRuleSet(schema) : undefined
  if (rules) causes.push(...evaluateRules(rules, value))
  found.push(...causes.map((cause) => placed(cause, path)))
}

function placed(cause: StatusCause, path: string): StatusCause {
  const { field = '' } = cause
  if (field === '' || field === '<nil>') return { ...cause, field: path }
  return { ...cause, field: field.startsWith('[') ? `${path}${field}` : `${path}.${field}` }
}
