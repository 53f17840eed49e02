import { messageOf } from '@skerry/base'
import { applyServerSide, checkApplied } from '@skerry/bodies'
import { isJsonObject, type AnyObject, type JsonObject, type Kind, type Schema } from '@skerry/api'

type TypedKind = Pick<Kind, 'kind' | 'schemas' | 'schemaName'>

/**
 * Returns the object with the fields of the configuration, merged as by an apply, without changing
 * owners. Throws Error with upstream's words.
 */
export function applyConfiguration(
  object: AnyObject,
  configuration: JsonObject,
  kind: TypedKind,
): AnyObject {
  requireTyped(configuration, kind)
  const atomics = atomicFields(configuration, { ref: kind.schemaName }, kind.schemas)
  if (atomics.length > 0) {
    const list = atomics.join(', ')
    throw new Error(
      `error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${list}`,
    )
  }
  const { apiVersion, metadata } = object
  const given = configuration['metadata']
  const applied = {
    ...configuration,
    apiVersion,
    kind: object.kind,
    metadata: { ...(isJsonObject(given) ? given : {}), ...nameOf(metadata) },
  }
  try {
    const { managedFields: _managers, ...unmanaged } = metadata
    const merged = applyServerSide({
      live: { ...object, metadata: unmanaged },
      applied,
      kind: kind.kind,
      schemas: kind.schemas,
      schemaName: kind.schemaName,
      manager: 'admission-policy',
      apiVersion,
      subresource: '',
      isForced: true,
      nowMs: 0,
    })
    return withManagers(merged, metadata.managedFields)
  } catch (error) {
    const why = messageOf(error)
    throw new Error(`error applying patch: ${why}`, { cause: error })
  }
}

function requireTyped(configuration: JsonObject, { schemas, schemaName }: TypedKind): void {
  // This is the definition itself, not a reference to it, because caches are keyed by it.
  const findings = checkApplied(configuration, { schema: schemas[schemaName] ?? {}, schemas })
  if (findings.length === 0) return
  const list =
    findings.length === 1
      ? findings[0]
      : `errors:\n${findings.map((text) => `  ${text}`).join('\n')}`
  throw new Error(`error applying patch: failed to convert patch object to typed object: ${list}`)
}

function nameOf({ name, namespace }: AnyObject['metadata']) {
  return {
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
  }
}

function withManagers(
  object: AnyObject,
  managedFields: AnyObject['metadata']['managedFields'],
): AnyObject {
  const { managedFields: _made, ...metadata } = object.metadata
  return { ...object, metadata: managedFields ? { ...metadata, managedFields } : metadata }
}

/** Returns paths that a merge would replace as a whole, which a mutation does not express. */
function atomicFields(
  value: unknown,
  schema: Schema,
  schemas: Kind['schemas'],
  path = '',
): string[] {
  const definition = schema.ref === undefined ? schema : (schemas[schema.ref] ?? {})
  if (definition.ref !== undefined && definition !== schema) {
    return atomicFields(value, definition, schemas, path)
  }
  const mapType = schema.mapType ?? definition.mapType
  const own = path !== '' && isAtomic(value, definition, mapType) ? [path] : []
  if (Array.isArray(value)) {
    const items = definition.items ?? {}
    return [
      ...own,
      ...value.flatMap((item, at) => atomicFields(item, items, schemas, `${path}[${at}]`)),
    ]
  }
  if (!isJsonObject(value)) return own
  const inner = Object.entries(value).flatMap(([name, member]) => {
    const field = definition.properties?.[name]
    return field ? atomicFields(member, field, schemas, `${path}.${name}`) : []
  })
  return [...own, ...inner]
}

function isAtomic(value: unknown, { listType }: Schema, mapType: Schema['mapType']): boolean {
  if (Array.isArray(value)) return listType === undefined || listType === 'atomic'
  return isJsonObject(value) && mapType === 'atomic'
}
