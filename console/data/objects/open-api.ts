/** The schemas of a server's OpenAPI v3 documents, as far as an editor needs them. Pure. */
import { viewLimits } from '../../limits-table.ts'

export interface OpenApiSchema {
  readonly $ref?: string
  readonly allOf?: readonly OpenApiSchema[]
  readonly type?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, OpenApiSchema>>
  readonly additionalProperties?: OpenApiSchema | boolean
  readonly items?: OpenApiSchema
  readonly required?: readonly string[]
  readonly enum?: readonly unknown[]
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-group-version-kind'?: readonly GroupVersionKind[]
}

interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** The document of one group and version. */
export interface OpenApiDocument {
  readonly components?: { readonly schemas?: Readonly<Record<string, OpenApiSchema>> }
}

/** The schema of one kind, in the document that has the schemas of its parts. */
export interface KindSchema {
  readonly document: OpenApiDocument
  readonly root: OpenApiSchema
}

/** The name of a field, or `item` for any item of a list. */
export type PathStep = string | typeof item

/** No field can be called like this, because it is not a text. */
export const item = Symbol('item')

/** The list of all documents. */
export interface OpenApiIndex {
  readonly paths?: Readonly<Record<string, { readonly serverRelativeURL?: string }>>
}

/** Returns where the document of a group and version is; undefined if there is none. */
export function documentPath({ paths = {} }: OpenApiIndex, apiVersion: string): string | undefined {
  const key = apiVersion.includes('/') ? `apis/${apiVersion}` : `api/${apiVersion}`
  const path = Object.hasOwn(paths, key) ? paths[key]?.serverRelativeURL : undefined
  // A cluster must not send the browser to another path of the hub.
  const isOwn =
    path !== undefined && path.startsWith('/openapi/v3/') && !/[\\]|\.\.|%2e/i.test(path)
  return isOwn ? path : undefined
}

export function kindSchema(
  document: OpenApiDocument,
  apiVersion: string,
  kind: string,
): KindSchema | undefined {
  const [first = '', second] = apiVersion.split('/')
  const [group, version] = second === undefined ? ['', first] : [first, second]
  const root = Object.values(document.components?.schemas ?? {}).find((schema) =>
    schema['x-kubernetes-group-version-kind']?.some(
      (each) => each.group === group && each.version === version && each.kind === kind,
    ),
  )
  return root === undefined ? undefined : { document, root }
}

/** Returns the schema at a path; undefined if the server knows no such field, or says nothing about it. */
export function schemaAt(
  { document, root }: KindSchema,
  path: readonly PathStep[],
): OpenApiSchema | undefined {
  let schema: OpenApiSchema | undefined = resolved(document, root)
  for (const step of path) {
    const next: OpenApiSchema | undefined = schema && childOf(schema, step)
    schema = next === undefined ? undefined : resolved(document, next)
  }
  return schema
}

function childOf(schema: OpenApiSchema, step: PathStep): OpenApiSchema | undefined {
  if (step === item) return schema.items
  const { properties = {}, additionalProperties } = schema
  if (Object.hasOwn(properties, step)) return properties[step]
  return typeof additionalProperties === 'object' ? additionalProperties : undefined
}

/** Follows references. A field's own description takes precedence over that of its type. */
function resolved(document: OpenApiDocument, schema: OpenApiSchema): OpenApiSchema {
  let found = schema
  for (let hops = 0; hops < viewLimits.schemaHopsMax; hops += 1) {
    const reference = found.$ref ?? found.allOf?.[0]?.$ref
    if (reference === undefined) return found
    const { $ref: _ref, allOf: _all, ...own } = found
    const name = nameOf(reference)
    found = { ...document.components?.schemas?.[name], ...own }
  }
  return found
}

/** A schema may be named with a slash in it, which a reference escapes. */
function nameOf(reference: string): string {
  return reference
    .slice(reference.lastIndexOf('/') + 1)
    .replaceAll('~1', '/')
    .replaceAll('~0', '~')
}

/** Reports whether an object has these fields and no others. */
export function isClosed(schema: OpenApiSchema): boolean {
  return (
    Object.keys(schema.properties ?? {}).length > 0 &&
    (schema.additionalProperties ?? false) === false &&
    schema['x-kubernetes-preserve-unknown-fields'] !== true
  )
}

export interface SchemaField {
  readonly name: string
  /** `[]Container`, `map[string]string`, `boolean`. */
  readonly type: string
  readonly shape: 'object' | 'list' | 'scalar'
  readonly description: string
  readonly isRequired: boolean
}

/** Lists the fields of an object, in the order of their names. */
export function fieldsAt(kind: KindSchema, path: readonly PathStep[]): SchemaField[] {
  const { properties = {}, required = [] } = schemaAt(kind, path) ?? {}
  return Object.entries(properties)
    .map(([name, property]): SchemaField => {
      const { type = '', description = '', ...own } = resolved(kind.document, property)
      const isObject = type === 'object' || own.properties !== undefined
      return {
        name,
        type: typeText(kind.document, property),
        shape: type === 'array' ? 'list' : isObject ? 'object' : 'scalar',
        description,
        isRequired: required.includes(name),
      }
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function typeText(document: OpenApiDocument, schema: OpenApiSchema): string {
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref
  const whole = resolved(document, schema)
  const { type = 'any', items, additionalProperties } = whole
  if (type === 'array') return `[]${items === undefined ? 'any' : typeText(document, items)}`
  if (typeof additionalProperties === 'object') {
    return `map[string]${typeText(document, additionalProperties)}`
  }
  if (reference === undefined || type !== 'object') return type
  return nameOf(reference).split('.').at(-1) ?? type
}

/** Lists the values that a field may have; undefined if there are too many to count. */
export function valuesAt(kind: KindSchema, path: readonly PathStep[]): string[] | undefined {
  const schema = schemaAt(kind, path)
  if (schema?.type === 'boolean') return ['true', 'false']
  const { enum: values } = schema ?? {}
  // Upstream writes an empty text for “not set”.
  return values?.map(String).filter((value) => value !== '')
}
