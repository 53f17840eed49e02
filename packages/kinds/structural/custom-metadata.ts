import { fieldInvalid, isJsonObject, memberOf, type JsonObject, type Schema } from '@skerry/api'
import { checkFields, decodingDetail, undecodedObject } from '@skerry/bodies'
import { objectMetaName, objectMetaSchemas } from '../schema/object-meta-schema.ts'
import { eachMember } from './schema-members.ts'

/**
 * Types metadata of a custom resource and of the resources embedded in it, in place, and returns
 * their unknown fields. Throws StatusError BadRequest for wrong types.
 */
export function checkCustomMetadata(
  object: JsonObject,
  schema: Schema,
): { readonly own: readonly string[]; readonly embedded: readonly string[] } {
  const found = { own: [], embedded: [] }
  walk(object, schema, { path: '', root: object, found })
  return found
}

interface Walk {
  readonly path: string
  readonly root: JsonObject
  readonly found: { readonly own: string[]; readonly embedded: string[] }
}

function walk(value: unknown, schema: Schema, at: Walk): void {
  if (schema.embeddedResource && isJsonObject(value)) {
    if (at.path !== '') requireTexts(value, at)
    at.found[at.path === '' ? 'own' : 'embedded'].push(...checkMetadata(value, at))
  }
  eachMember(schema, { value, path: at.path }, (below, { value: member, path }) => {
    const isContainer = typeof member === 'object' && member !== null
    if (isContainer && below.ref === undefined) walk(member, below, { ...at, path })
  })
}

function requireTexts(resource: JsonObject, { path, root }: Walk): void {
  for (const key of ['apiVersion', 'kind']) {
    const value = memberOf(resource, key)
    if (value === undefined || typeof value === 'string') continue
    const { message = '' } = fieldInvalid(child(path, key), value, 'must be a string')
    throw undecodedObject({ object: root }, `${child(path, key)}: ${message}`)
  }
}

function checkMetadata(resource: JsonObject, { path, root }: Walk): readonly string[] {
  const metadata = memberOf(resource, 'metadata')
  if (metadata === undefined) return []
  if (metadata === null) {
    resource['metadata'] = {}
    return []
  }
  const where = child(path, 'metadata')
  if (!isJsonObject(metadata)) {
    throw undecodedObject({ object: root }, `${where}: metadata is not an object`)
  }
  const before = path === '' ? '' : JSON.stringify(metadata)
  try {
    const within = { object: root, path: where }
    const type = { schemas: objectMetaSchemas, schemaName: objectMetaName }
    return checkFields({ object: metadata, within, ...type }).unknownFields
  } catch (error) {
    const detail = decodingDetail(error)
    if (detail === undefined || path === '') throw error
    throw undecodedObject({ object: root }, `${where}: Invalid value: ${before}: ${detail}`, error)
  }
}

function child(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}
