import { isJsonObject, type JsonObject, type Schema, type SchemaSet } from '@skerry/api'
import { objectMetaName, objectMetaSchemas } from './object-meta-schema.ts'

export interface CrdSchema {
  schemas: SchemaSet
  schemaName: string
}

/** The name of a custom resource's type in its own SchemaSet. */
const rootName = 'CustomResource'

/**
 * Converts a CRD's openAPIV3Schema to the shape that built-in kinds have. It refuses nothing; see
 * checkStructural. The root is marked as embeddedResource, by which other code distinguishes a
 * custom resource from a built-in kind.
 */
export function schemaFromCrd(openAPIV3Schema: unknown): CrdSchema {
  const root = isJsonObject(openAPIV3Schema)
    ? schemaFromProps(openAPIV3Schema)
    : { preserveUnknownFields: true }
  const rootSchema = withMeta({ ...root, type: 'object', embeddedResource: true })
  return { schemas: { ...objectMetaSchemas, [rootName]: rootSchema }, schemaName: rootName }
}

/** Every resource has these fields, whatever its schema contains. */
function withMeta(schema: Schema): Schema {
  const { properties } = schema
  const text: Schema = { type: 'string' }
  // An embedded resource's schema may fix its kind.
  const { apiVersion = text, kind = text } = properties ?? {}
  const metadata = { ref: objectMetaName, ...namesOf(properties?.['metadata']) }
  const meta = { apiVersion, kind, metadata }
  return { ...schema, properties: { ...properties, ...meta } }
}

/** A definition can restrict only `name` and `generateName` in metadata. */
function namesOf(metadata: Schema | undefined): Pick<Schema, 'names'> {
  const { name, generateName } = metadata?.properties ?? {}
  if (!name && !generateName) return {}
  return { names: { ...(name ? { name } : {}), ...(generateName ? { generateName } : {}) } }
}

/** Schemas by the JSON they were made from: the parts of oneOf and the like are converted when first used. */
const convertedProps = new WeakMap<object, Schema>()

/** Converts JSONSchemaProps to a Schema; keywords without a field of their own stay in `validations`. */
export function schemaFromProps(props: Readonly<JsonObject>): Schema {
  const known = convertedProps.get(props)
  if (known) return known
  const schema = convert(props)
  convertedProps.set(props, schema)
  return schema
}

function convert(props: Readonly<JsonObject>): Schema {
  const validations: JsonObject = {}
  const schema: MutableSchema = {}
  for (const [key, value] of Object.entries(props)) {
    if (value === null || documentation.has(key)) continue
    const assign = fieldOfProp[key]
    if (assign) assign(schema, value)
    else validations[key] = value
  }
  if (Object.keys(validations).length > 0) schema.validations = validations
  return schema.embeddedResource ? withMeta(schema) : schema
}

const documentation: ReadonlySet<string> = new Set([
  'description',
  'title',
  'example',
  'externalDocs',
])

type MutableSchema = { -readonly [key in keyof Schema]: Schema[key] }
type Assign = (schema: MutableSchema, value: unknown) => void

const fieldOfProp: Readonly<Record<string, Assign>> = Object.freeze({
  type: (schema, value) => {
    if (isType(value)) schema.type = value
  },
  format: (schema, value) => {
    if (typeof value === 'string' && value !== '') schema.format = value
  },
  properties: (schema, value) => {
    if (isJsonObject(value)) schema.properties = mapValues(value, schemaOf)
  },
  required: (schema, value) => {
    schema.required = strings(value)
  },
  additionalProperties: (schema, value) => {
    if (value !== false) schema.additionalProperties = schemaOf(value)
  },
  items: (schema, value) => {
    schema.items = schemaOf(value)
  },
  default: (schema, value) => {
    schema.default = value
  },
  enum: (schema, value) => {
    if (Array.isArray(value)) schema.enum = value
  },
  nullable: (schema, value) => {
    if (value === true) schema.nullable = true
  },
  'x-kubernetes-list-type': (schema, value) => {
    if (value === 'atomic' || value === 'set' || value === 'map') schema.listType = value
  },
  'x-kubernetes-list-map-keys': (schema, value) => {
    schema.listMapKeys = strings(value)
  },
  'x-kubernetes-map-type': (schema, value) => {
    if (value === 'atomic' || value === 'granular') schema.mapType = value
  },
  'x-kubernetes-int-or-string': (schema, value) => {
    if (value === true) schema.intOrString = true
  },
  'x-kubernetes-preserve-unknown-fields': (schema, value) => {
    if (value === true) schema.preserveUnknownFields = true
  },
  'x-kubernetes-embedded-resource': (schema, value) => {
    if (value === true) schema.embeddedResource = true
  },
})

const types = ['object', 'array', 'string', 'integer', 'number', 'boolean'] as const

function isType(value: unknown): value is (typeof types)[number] {
  return types.some((type) => type === value)
}

function schemaOf(value: unknown): Schema {
  return isJsonObject(value) ? schemaFromProps(value) : {}
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function mapValues<T>(
  object: Readonly<JsonObject>,
  change: (value: unknown) => T,
): Record<string, T> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]))
}
