import {
  checkCustomMetadata,
  defaultStructural,
  pruneStructural,
  validateStructural,
  type AnyObject,
  type Kind,
  type Schema,
  type Strategy,
} from '@skerry/api'

/** A custom kind whose objects are pruned, defaulted and validated by its CRD's schema. */
export function withSchemaHooks(kind: Kind): Kind {
  const schema = kind.schemas[kind.schemaName] ?? { preserveUnknownFields: true }
  const validate = (object: AnyObject) => validateStructural(schema, object)
  const hooks: Strategy = {
    ...kind.strategy,
    onDecode: (object) => [
      ...pruneStructural(object, schema),
      ...checkCustomMetadata(object, schema),
    ],
    defaults: (object) => defaultStructural(object, schema),
    validate,
    validateUpdate: validate,
    validateStatusUpdate: validate,
  }
  return { ...kind, strategy: { ...hooks, ...onReadOf(schema) } }
}

function onReadOf(schema: Schema): Partial<Strategy> {
  // Objects stored before a default came into the schema have it from then on.
  return hasDefault(schema) ? { onRead: (object) => defaultStructural(object, schema) } : {}
}

function hasDefault(schema: Schema): boolean {
  if (schema.default !== undefined) return true
  const children = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.items ? [schema.items] : []),
    ...(schema.additionalProperties ? [schema.additionalProperties] : []),
  ]
  return children.some((child) => hasDefault(child))
}
