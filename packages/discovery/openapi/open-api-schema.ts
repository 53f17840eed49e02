import type { Schema } from '@skerry/api'
import type { TypeDescription } from './descriptions.ts'

export type OpenApiDialect = 'v2' | 'v3'

export type OpenApiObject = { [key: string]: unknown }

export interface GroupVersionKindText {
  group: string
  version: string
  kind: string
}

/** These accept any JSON object, which OpenAPI expresses by naming no properties. */
const openBuiltins = new Set([
  'io.k8s.apimachinery.pkg.runtime.RawExtension',
  'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1',
])

/** Returns one definition under its name. */
export function openApiDefinition(
  name: string,
  schema: Schema,
  context: { dialect: OpenApiDialect; described: TypeDescription | undefined },
): OpenApiObject {
  if (openBuiltins.has(name)) return { type: 'object' }
  const { dialect, described } = context
  const definition = openApiSchema(schema, dialect)
  const properties = isObject(definition['properties']) ? definition['properties'] : undefined
  for (const [field, sentence] of Object.entries(described?.fields ?? {})) {
    const property = properties?.[field]
    if (properties && isObject(property)) properties[field] = withDescription(property, sentence)
  }
  return described?.description === undefined
    ? definition
    : withDescription(definition, described.description)
}

function openApiSchema(schema: Schema, dialect: OpenApiDialect): OpenApiObject {
  const result: OpenApiObject = {}
  if (schema.ref !== undefined) addReference(result, schema, dialect)
  else addType(result, schema, dialect)
  if (schema.required) result['required'] = schema.required
  if (schema.properties) {
    const sorted = Object.entries(schema.properties).toSorted(([a], [b]) => (a < b ? -1 : 1))
    result['properties'] = Object.fromEntries(
      sorted.map(([name, field]) => [name, openApiSchema(field, dialect)]),
    )
  }
  if (schema.additionalProperties) {
    result['additionalProperties'] = openApiSchema(schema.additionalProperties, dialect)
  }
  if (schema.items) result['items'] = openApiSchema(schema.items, dialect)
  if (schema.enum) result['enum'] = schema.enum
  if (schema.default !== undefined && dialect === 'v3') result['default'] = schema.default
  return Object.assign(result, validationsOf(schema, dialect), extensionsOf(schema))
}

export function referenceTo(definition: string, dialect: OpenApiDialect): OpenApiObject {
  const prefix = dialect === 'v3' ? '#/components/schemas/' : '#/definitions/'
  return { $ref: prefix + definition }
}

export function withDescription(schema: OpenApiObject, description: string): OpenApiObject {
  // A bare $ref may have no siblings in OpenAPI 3.0.
  const { $ref } = schema
  if (typeof $ref === 'string' && $ref.startsWith('#/components/')) {
    return { description, allOf: [{ $ref }] }
  }
  return { description, ...schema }
}

function addReference(result: OpenApiObject, schema: Schema, dialect: OpenApiDialect): void {
  const reference = referenceTo(schema.ref ?? '', dialect)
  const isAlone = schema.default === undefined && Object.keys(extensionsOf(schema)).length === 0
  if (dialect === 'v2' || isAlone) Object.assign(result, reference)
  else result['allOf'] = [reference]
}

/** OpenAPI v2 has no unions of types: such a value has no type there, or is a string. */
function addType(result: OpenApiObject, schema: Schema, dialect: OpenApiDialect): void {
  const { type, format } = schema
  if (schema.intOrString && format === 'int-or-string') {
    if (dialect === 'v2') result['type'] = 'string'
    else result['oneOf'] = [{ type: 'integer' }, { type: 'string' }]
    result['format'] = format
    return
  }
  if (format === 'quantity') {
    if (dialect === 'v2') result['type'] = 'string'
    else result['oneOf'] = [{ type: 'string' }, { type: 'number' }]
    return
  }
  if (schema.intOrString) {
    if (dialect === 'v3') result['anyOf'] = [{ type: 'integer' }, { type: 'string' }]
    return
  }
  const isUntyped = dialect === 'v2' && (schema.nullable || schema.preserveUnknownFields)
  if (type !== undefined && !isUntyped) result['type'] = type
  if (format !== undefined) result['format'] = format
  if (schema.nullable && dialect === 'v3') result['nullable'] = true
}

function validationsOf(schema: Schema, dialect: OpenApiDialect): OpenApiObject {
  const validations = { ...schema.validations }
  if (dialect === 'v2')
    for (const key of ['oneOf', 'anyOf', 'not', 'allOf']) delete validations[key]
  return validations
}

function extensionsOf(schema: Schema): OpenApiObject {
  const entries: [string, unknown][] = [
    ['x-kubernetes-list-type', schema.listType],
    ['x-kubernetes-list-map-keys', schema.listMapKeys],
    ['x-kubernetes-map-type', schema.mapType],
    ['x-kubernetes-patch-merge-key', schema.patchMergeKey],
    ['x-kubernetes-patch-strategy', schema.patchStrategy?.join(',')],
    ['x-kubernetes-preserve-unknown-fields', schema.preserveUnknownFields],
    ['x-kubernetes-embedded-resource', schema.embeddedResource],
    [
      'x-kubernetes-int-or-string',
      schema.intOrString && schema.format === undefined ? true : undefined,
    ],
    ['x-kubernetes-unions', schema.unions?.map(unionOf)],
  ]
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

function unionOf(union: { discriminator?: string; fields?: Readonly<Record<string, string>> }) {
  const { discriminator, fields } = union
  return {
    ...(discriminator === undefined ? {} : { discriminator }),
    'fields-to-discriminateBy': fields ?? {},
  }
}

function isObject(value: unknown): value is OpenApiObject {
  return typeof value === 'object' && value !== null
}
