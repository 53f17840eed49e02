import type { Kind } from '../kind.ts'
import { referenceTo, type OpenApiDialect, type OpenApiObject } from './open-api-schema.ts'

const metaPrefix = 'io.k8s.apimachinery.pkg.apis.meta.v1.'

/** Keywords that OpenAPI v2 has no words for, or that its clients cannot bear. */
const unknownToSwagger = [
  'oneOf',
  'anyOf',
  'not',
  'allOf',
  'nullable',
  'default',
  'x-kubernetes-validations',
]

/**
 * The definition of a custom resource, from its CRD's openAPIV3Schema as the author wrote it, with
 * what every object has added.
 */
export function customDefinition(
  kind: Kind,
  rawSchema: unknown,
  dialect: OpenApiDialect,
): OpenApiObject {
  const root = convert(isRecord(rawSchema) ? rawSchema : { type: 'object' }, dialect)
  const definition: OpenApiObject = {
    ...root,
    type: 'object',
    properties: { ...asRecord(root['properties']), ...objectFields(dialect) },
  }
  if (kind.selectableFields.length > 0) {
    definition['x-kubernetes-selectable-fields'] = kind.selectableFields.map((fieldPath) => ({
      fieldPath,
    }))
  }
  return definition
}

function objectFields(dialect: OpenApiDialect): OpenApiObject {
  return {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: referenceTo(`${metaPrefix}ObjectMeta`, dialect),
  }
}

function convert(raw: OpenApiObject, dialect: OpenApiDialect): OpenApiObject {
  const result: OpenApiObject = { ...raw }
  if (isRecord(raw['properties'])) {
    result['properties'] = Object.fromEntries(
      Object.entries(raw['properties']).map(([name, field]) => [
        name,
        convert(asRecord(field), dialect),
      ]),
    )
  }
  for (const key of ['items', 'additionalProperties']) {
    if (isRecord(raw[key])) result[key] = convert(raw[key], dialect)
  }
  if (raw['x-kubernetes-embedded-resource'] === true) embed(result, dialect)
  if (dialect === 'v3') {
    if (raw['x-kubernetes-int-or-string'] === true && raw['anyOf'] === undefined) {
      result['anyOf'] = [{ type: 'integer' }, { type: 'string' }]
    }
    return result
  }
  return simplifyForSwagger(result)
}

function embed(result: OpenApiObject, dialect: OpenApiDialect): void {
  result['required'] = [...new Set([...stringsOf(result['required']), 'kind', 'apiVersion'])]
  result['properties'] = { ...objectFields(dialect), ...asRecord(result['properties']) }
}

/** What may be null or have unknown fields is any value to clients of v2. */
function simplifyForSwagger(schema: OpenApiObject): OpenApiObject {
  const isAny =
    schema['nullable'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true
  for (const key of unknownToSwagger) delete schema[key]
  if (isAny) for (const key of ['type', 'properties', 'required', 'items']) delete schema[key]
  return schema
}

function isRecord(value: unknown): value is OpenApiObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function asRecord(value: unknown): OpenApiObject {
  return isRecord(value) ? value : {}
}

function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}
