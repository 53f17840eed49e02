import {
  StatusError,
  checkCustomMetadata,
  defaultStructural,
  pruneStructural,
  type Kind,
  type Schema,
  type Strategy,
} from '@skerry/api'
import { customValidation } from './custom-validation.ts'

/** A custom kind whose objects are pruned, defaulted and validated by its CRD's schema. */
export function withSchemaHooks(kind: Kind, isTerminating: () => boolean): Kind {
  const schema = kind.schemas[kind.schemaName] ?? { preserveUnknownFields: true }
  const hooks: Strategy = {
    ...kind.strategy,
    onDecode: (object) => [
      ...pruneStructural(object, schema),
      ...checkCustomMetadata(object, schema),
    ],
    defaults: (object) => defaultStructural(object, schema),
    ...customValidation(schema),
    prepareForCreate(next, context) {
      if (isTerminating()) throw terminating(kind, next.metadata.name ?? '')
      kind.strategy.prepareForCreate?.(next, context)
    },
  }
  return { ...kind, strategy: { ...hooks, ...onReadOf(schema) } }
}

function terminating({ group, resource }: Kind, name: string): StatusError {
  const qualified = `${resource}.${group} ${JSON.stringify(name)}`
  const why = 'create not allowed while custom resource definition is terminating'
  return new StatusError('Forbidden', `${qualified} is forbidden: ${why}`, {
    details: { name, group, kind: resource },
  })
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
