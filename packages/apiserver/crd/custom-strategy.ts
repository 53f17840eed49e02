import { StatusError, type Kind, type Schema, type Strategy } from '@skerry/api'
import { checkCustomMetadata, defaultStructural, pruneStructural } from '@skerry/kinds'
import { customValidation } from './custom-validation.ts'

/** Returns a custom kind whose objects are pruned, defaulted and validated by its CRD's schema. */
export function withSchemaHooks(
  kind: Kind,
  versions: readonly Kind[],
  isTerminating: () => boolean,
): Kind {
  const schema = schemaOf(kind)
  const hooks: Strategy = {
    ...kind.strategy,
    allowUnconditionalUpdate: false,
    onDecode(object) {
      const pruned = pruneStructural(object, schema)
      const { own, embedded } = checkCustomMetadata(object, schema)
      return [...own, ...pruned, ...embedded]
    },
    defaults: (object) => defaultStructural(object, schema),
    ...customValidation(schema),
    prepareForCreate(next, context) {
      if (isTerminating()) throw terminating(kind, next.metadata.name ?? '')
      kind.strategy.prepareForCreate?.(next, context)
    },
  }
  return { ...kind, strategy: { ...hooks, ...onReadOf(versions) } }
}

function schemaOf(kind: Kind): Schema {
  return kind.schemas[kind.schemaName] ?? { preserveUnknownFields: true }
}

function terminating({ group, resource }: Kind, name: string): StatusError {
  const qualified = `${resource}.${group} ${JSON.stringify(name)}`
  const why = 'create not allowed while custom resource definition is terminating'
  return new StatusError('Forbidden', `${qualified} is forbidden: ${why}`, {
    details: { name, group, kind: resource },
  })
}

/** Objects stored before a default was added to their schema get it when they are read. */
function onReadOf(versions: readonly Kind[]): Partial<Strategy> {
  const schemas = new Map<string, Schema>(
    versions
      .map((kind) => [`${kind.group}/${kind.version}`, schemaOf(kind)] as const)
      .filter(([, schema]) => hasDefault(schema)),
  )
  if (schemas.size === 0) return {}
  return {
    onRead(object, storedApiVersion) {
      const schema = schemas.get(storedApiVersion)
      if (schema) defaultStructural(object, schema)
    },
  }
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
