import type { Kind } from '../kind.ts'
import type { Descriptions } from './descriptions.ts'
import {
  referenceTo,
  withDescription,
  type OpenApiDialect,
  type OpenApiObject,
} from './open-api-schema.ts'

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

/** A small built-in kind: what is said of its apiVersion, kind and metadata is said of all kinds'. */
export const describedLikeAll = 'io.k8s.api.scheduling.v1.PriorityClass'

export interface CustomDefinitionContext {
  readonly dialect: OpenApiDialect
  readonly descriptions: Descriptions
}

/**
 * The definition of a custom resource, from its CRD's openAPIV3Schema as the author wrote it, with
 * what every object has added.
 */
export function customDefinition(
  kind: Kind,
  rawSchema: unknown,
  context: CustomDefinitionContext,
): OpenApiObject {
  const raw = isRecord(rawSchema) ? rawSchema : { type: 'object' }
  // Old clients hold any field against a schema that names some and leaves others open.
  if (context.dialect === 'v2' && raw['x-kubernetes-preserve-unknown-fields'] === true)
    return { type: 'object' }
  const root = convert(raw, context)
  const definition: OpenApiObject = {
    ...root,
    type: 'object',
    properties: { ...asRecord(root['properties']), ...objectFields(context) },
  }
  if (kind.selectableFields.length > 0) {
    definition['x-kubernetes-selectable-fields'] = kind.selectableFields.map((fieldPath) => ({
      fieldPath,
    }))
  }
  return definition
}

function objectFields({ dialect, descriptions }: CustomDefinitionContext): OpenApiObject {
  const sentences = descriptions(describedLikeAll)?.fields ?? {}
  const described = (field: string, schema: OpenApiObject): OpenApiObject => {
    const sentence = sentences[field]
    return sentence === undefined ? schema : withDescription(schema, sentence)
  }
  return {
    apiVersion: described('apiVersion', { type: 'string' }),
    kind: described('kind', { type: 'string' }),
    metadata: described('metadata', referenceTo(`${metaPrefix}ObjectMeta`, dialect)),
  }
}

function convert(raw: OpenApiObject, context: CustomDefinitionContext): OpenApiObject {
  const { dialect } = context
  const result: OpenApiObject = { ...raw }
  if (isRecord(raw['properties'])) {
    result['properties'] = Object.fromEntries(
      Object.entries(raw['properties']).map(([name, field]) => [
        name,
        convert(asRecord(field), context),
      ]),
    )
  }
  for (const key of ['items', 'additionalProperties']) {
    if (isRecord(raw[key])) result[key] = convert(raw[key], context)
  }
  if (raw['x-kubernetes-embedded-resource'] === true) embed(result, context)
  if (dialect === 'v3') {
    if (raw['x-kubernetes-int-or-string'] === true && raw['anyOf'] === undefined) {
      result['anyOf'] = [{ type: 'integer' }, { type: 'string' }]
    }
    return result
  }
  return simplifyForSwagger(result)
}

function embed(result: OpenApiObject, context: CustomDefinitionContext): void {
  result['required'] = [...new Set([...stringsOf(result['required']), 'kind', 'apiVersion'])]
  result['properties'] = { ...objectFields(context), ...asRecord(result['properties']) }
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
