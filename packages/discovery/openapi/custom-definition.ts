import type { Kind } from '@skerry/api'
import type { Descriptions } from './descriptions.ts'
import {
  referenceTo,
  withDescription,
  type OpenApiDialect,
  type OpenApiObject,
} from './open-api-schema.ts'

const metaPrefix = 'io.k8s.apimachinery.pkg.apis.meta.v1.'

/** Keywords that OpenAPI v2 does not have, or that its clients cannot handle. */
const unknownToSwagger = ['oneOf', 'anyOf', 'not', 'allOf', 'nullable', 'default']

/** A small built-in kind. Its descriptions of apiVersion, kind and metadata apply to all kinds. */
const objectLikeAll = 'io.k8s.api.scheduling.v1.PriorityClass'
/** The same for lists. */
export const listLikeAll = `${objectLikeAll}List`

/** The definitions whose descriptions are needed wherever there are custom kinds. */
export const describedLikeAll: readonly string[] = Object.freeze([objectLikeAll, listLikeAll])

const integerOrString = Object.freeze([{ type: 'integer' }, { type: 'string' }])

export interface CustomDefinitionContext {
  readonly dialect: OpenApiDialect
  readonly descriptions: Descriptions
}

/**
 * Returns the definition of a custom resource, from its CRD's openAPIV3Schema as the author wrote
 * it, with the fields of every object added.
 */
export function customDefinition(
  kind: Kind,
  rawSchema: unknown,
  context: CustomDefinitionContext,
): OpenApiObject {
  const raw = isRecord(rawSchema) ? rawSchema : { type: 'object' }
  // Old clients refuse any field if a schema names some and leaves others open.
  const isOpen = context.dialect === 'v2' && raw['x-kubernetes-preserve-unknown-fields'] === true
  const definition = isOpen ? { type: 'object' } : ownDefinition(raw, context)
  return { ...definition, ...selectableFields(kind) }
}

function ownDefinition(raw: OpenApiObject, context: CustomDefinitionContext): OpenApiObject {
  const root = convert(raw, context)
  const properties = { ...asRecord(root['properties']), ...objectFields(context) }
  return { ...root, type: 'object', properties }
}

export function customListDefinition(kind: Kind, context: CustomDefinitionContext): OpenApiObject {
  const { dialect } = context
  return {
    description: `${kind.listKind} is a list of ${kind.kind}`,
    type: 'object',
    required: ['items'],
    properties: {
      ...described(listLikeAll, context, {
        apiVersion: { type: 'string' },
        kind: { type: 'string' },
        metadata: referenceTo(`${metaPrefix}ListMeta`, dialect),
      }),
      items: {
        description: `List of ${kind.resource}.`,
        type: 'array',
        items: referenceTo(kind.schemaName, dialect),
      },
    },
    ...selectableFields(kind),
  }
}

function selectableFields(kind: Kind): OpenApiObject {
  if (kind.selectableFields.length === 0) return {}
  const fields = kind.selectableFields.map((fieldPath) => ({ fieldPath }))
  return { 'x-kubernetes-selectable-fields': fields }
}

function objectFields(context: CustomDefinitionContext): OpenApiObject {
  return described(objectLikeAll, context, {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: referenceTo(`${metaPrefix}ObjectMeta`, context.dialect),
  })
}

/** Returns the fields with the descriptions of the same fields in that definition. */
function described(
  definition: string,
  { descriptions }: CustomDefinitionContext,
  fields: Readonly<Record<string, OpenApiObject>>,
): OpenApiObject {
  const sentences = descriptions(definition)?.fields ?? {}
  const entries = Object.entries(fields).map(([field, schema]) => {
    const sentence = sentences[field]
    return [field, sentence === undefined ? schema : withDescription(schema, sentence)]
  })
  return Object.fromEntries(entries)
}

function convert(raw: OpenApiObject, context: CustomDefinitionContext): OpenApiObject {
  const isSwagger = context.dialect === 'v2'
  const result = isSwagger ? simplified(raw) : withIntegerOrString({ ...raw })
  if (isRecord(result['properties'])) {
    const fields = Object.entries(result['properties'])
    result['properties'] = Object.fromEntries(
      fields.map(([name, field]) => [name, convert(asRecord(field), context)]),
    )
  }
  for (const key of ['items', 'additionalProperties']) {
    if (isRecord(result[key])) result[key] = convert(result[key], context)
  }
  const isOpen = raw['x-kubernetes-preserve-unknown-fields'] === true
  if (raw['x-kubernetes-embedded-resource'] === true && !(isSwagger && isOpen))
    embed(result, context)
  return withoutEmpty(result)
}

function embed(result: OpenApiObject, context: CustomDefinitionContext): void {
  result['required'] = [...new Set([...stringsOf(result['required']), 'kind', 'apiVersion'])]
  result['properties'] = { ...asRecord(result['properties']), ...objectFields(context) }
}

/** Explains x-kubernetes-int-or-string, unless the author did. */
function withIntegerOrString(schema: OpenApiObject): OpenApiObject {
  if (schema['x-kubernetes-int-or-string'] !== true) return schema
  const [first] = arrayOf(schema['allOf'])
  if (isIntegerOrString(schema['anyOf']) || isIntegerOrString(asRecord(first)['anyOf']))
    return schema
  if (arrayOf(schema['anyOf']).length === 0) return { ...schema, anyOf: integerOrString }
  return { ...schema, allOf: [{ anyOf: integerOrString }, ...arrayOf(schema['allOf'])] }
}

function isIntegerOrString(branches: unknown): boolean {
  const [first, second, ...more] = arrayOf(branches)
  const types = [asRecord(first)['type'], asRecord(second)['type']]
  return more.length === 0 && types[0] === 'integer' && types[1] === 'string'
}

/** A schema that allows null or unknown fields is any value to v2 clients. */
function simplified(raw: OpenApiObject): OpenApiObject {
  const schema = { ...raw }
  const isOpen = raw['x-kubernetes-preserve-unknown-fields'] === true
  for (const key of unknownToSwagger) delete schema[key]
  if (raw['nullable'] === true) delete schema['type']
  if (raw['nullable'] === true || isOpen)
    for (const key of ['properties', 'items']) delete schema[key]
  if (isOpen && raw['type'] === 'object') delete schema['type']
  if (schema['items'] === undefined && raw['type'] === 'array') delete schema['type']
  const fields = asRecord(schema['properties'])
  const isNullable = (field: string) => asRecord(fields[field])['nullable'] === true
  if (Array.isArray(raw['required']))
    schema['required'] = stringsOf(raw['required']).filter((field) => !isNullable(field))
  if (asRecord(schema['additionalProperties'])['nullable'] === true) delete schema['required']
  return schema
}

/** The values of these are the author's own, whatever they are. */
const ownValues = new Set(['default', 'enum', 'example', 'properties'])

/** Removes meaningless values: false, an empty text, an empty list. */
function withoutEmpty(schema: OpenApiObject): OpenApiObject {
  const entries = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    if (ownValues.has(key)) return [[key, value]]
    if (value === false || value === '' || (Array.isArray(value) && value.length === 0)) return []
    return [[key, key === 'x-kubernetes-validations' ? arrayOf(value).map(ruleOf) : value]]
  })
  return Object.fromEntries(entries)
}

function ruleOf(rule: unknown): OpenApiObject {
  return Object.fromEntries(Object.entries(asRecord(rule)).filter(([, value]) => value !== ''))
}

function isRecord(value: unknown): value is OpenApiObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function asRecord(value: unknown): OpenApiObject {
  return isRecord(value) ? value : {}
}

function arrayOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function stringsOf(value: unknown): string[] {
  return arrayOf(value).filter((one) => typeof one === 'string')
}
