import type { Schema } from '@skerry/api'
import type { OpenApiSchema } from './upstream.ts'

const refPrefix = '#/components/schemas/'

/** Types that hold any JSON object, which their OpenAPI (`type: object`) does not show. */
const openObjects = new Set([
  'io.k8s.apimachinery.pkg.runtime.RawExtension',
  'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1',
])

const quantityName = 'io.k8s.apimachinery.pkg.api.resource.Quantity'

/** Returns one definition in the form of packages/api/schema.ts. */
export function compactDefinition(name: string, raw: OpenApiSchema): Schema {
  if (name === quantityName) return { format: 'quantity' }
  const schema = compactSchema(raw)
  return openObjects.has(name) ? { ...schema, preserveUnknownFields: true } : schema
}

/** A list of a kind (PodList): its schema follows from the kind's own, so it is not stored. */
export function isListDefinition(raw: OpenApiSchema): boolean {
  const kinds = raw['x-kubernetes-group-version-kind'] ?? []
  return raw.properties?.items !== undefined && kinds.some((gvk) => gvk.kind.endsWith('List'))
}

function compactSchema(raw: OpenApiSchema): Schema {
  const schema: { -readonly [K in keyof Schema]: Schema[K] } = {}
  const ref = raw.$ref ?? raw.allOf?.[0]?.$ref
  if (ref !== undefined) schema.ref = ref.slice(refPrefix.length)
  if (raw.type !== undefined) schema.type = knownType(raw.type)
  if (raw.format !== undefined) schema.format = raw.format
  if (raw.format === 'int-or-string') schema.intOrString = true
  if (raw.required) schema.required = raw.required
  if (raw.properties) schema.properties = mapSorted(raw.properties, compactSchema)
  if (raw.additionalProperties) {
    schema.additionalProperties = withoutElementDefault(compactSchema(raw.additionalProperties))
  }
  if (raw.items) schema.items = withoutElementDefault(compactSchema(raw.items))
  if (raw.default !== undefined) schema.default = raw.default
  if (raw.enum) schema.enum = raw.enum
  Object.assign(schema, mergeFacts(raw))
  return schema
}

function mergeFacts(raw: OpenApiSchema): Schema {
  const facts: { -readonly [K in keyof Schema]: Schema[K] } = {}
  const listType = raw['x-kubernetes-list-type']
  const mapKeys = raw['x-kubernetes-list-map-keys']
  const mapType = raw['x-kubernetes-map-type']
  const strategy = raw['x-kubernetes-patch-strategy']
  const mergeKey = raw['x-kubernetes-patch-merge-key']
  const unions = raw['x-kubernetes-unions']
  if (listType) facts.listType = listType
  if (mapKeys) facts.listMapKeys = mapKeys
  if (mapType) facts.mapType = mapType
  if (strategy) facts.patchStrategy = strategy.split(',')
  if (mergeKey) facts.patchMergeKey = mergeKey
  if (unions) {
    facts.unions = unions.map((union) => ({
      ...(union.discriminator === undefined ? {} : { discriminator: union.discriminator }),
      fields: union['fields-to-discriminateBy'] ?? {},
    }))
  }
  return facts
}

/**
 * Removes an element's default, which only reflects that its Go type is not a pointer, and is not a fact of
 * the API.
 */
function withoutElementDefault(schema: Schema): Schema {
  const { default: _goZero, ...rest } = schema
  return rest
}

function mapSorted<T, U>(record: Record<string, T>, change: (value: T) => U) {
  const keys = Object.keys(record).toSorted()
  // Every key comes from the record itself.
  return Object.fromEntries(keys.map((key) => [key, change(record[key] as T)]))
}

function knownType(type: string): Schema['type'] {
  switch (type) {
    case 'object':
    case 'array':
    case 'string':
    case 'integer':
    case 'number':
    case 'boolean':
      return type
    default:
      throw new Error(`Cannot compact schema: type ${JSON.stringify(type)} is not known`)
  }
}
