import type { JSONSchemaProps } from '@skerry/api'

/** Shapes that the tables of definitions share. */
export const text: JSONSchemaProps = Object.freeze({ type: 'string' })
export const texts: JSONSchemaProps = Object.freeze({ type: 'array', items: text })
export const textMap: JSONSchemaProps = Object.freeze({
  type: 'object',
  additionalProperties: text,
})
/** A value of a label. */
const labelValue: JSONSchemaProps = Object.freeze({
  type: 'string',
  maxLength: 63,
  pattern: '^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$',
})
/** Labels that nodes get: a node refuses all settings if one of them is invalid. */
export const labelMap: JSONSchemaProps = Object.freeze({
  type: 'object',
  additionalProperties: labelValue,
})
export const flag: JSONSchemaProps = Object.freeze({ type: 'boolean' })
export const count: JSONSchemaProps = Object.freeze({ type: 'integer', format: 'int32' })

/** Content that is checked where it is used: the server's own kinds know more of it than a copy of their schema. */
export const open: JSONSchemaProps = Object.freeze({
  type: 'object',
  'x-kubernetes-preserve-unknown-fields': true,
})

export function fields(
  properties: Readonly<Record<string, JSONSchemaProps>>,
  required: readonly string[] = [],
): JSONSchemaProps {
  return { type: 'object', properties, ...(required.length > 0 ? { required: [...required] } : {}) }
}

export function listOf(items: JSONSchemaProps): JSONSchemaProps {
  return { type: 'array', items }
}

export function mapOf(values: JSONSchemaProps): JSONSchemaProps {
  return { type: 'object', additionalProperties: values }
}

export function oneOf(...words: string[]): JSONSchemaProps {
  return { type: 'string', enum: words }
}

/** The column with the age of an object, which every kind has. */
export const age = Object.freeze(['AGE', 'date', '.metadata.creationTimestamp'] as const)

/** The part of every spec that the originals do not have. */
export const groupPolicy: JSONSchemaProps = fields({
  childEdits: oneOf('PutBack', 'Keep'),
  vanishedGraceSeconds: { type: 'integer', format: 'int32', minimum: 0 },
  maxUpdating: {
    'x-kubernetes-int-or-string': true,
    'x-kubernetes-validations': [
      {
        rule: "type(self) == int ? self > 0 : self.matches('^[1-9][0-9]?%$|^100%$')",
        message: 'must be a positive number or a share such as 25%',
      },
    ],
  },
})

/** The part of every status that the originals do not have. */
export const groupStatus: Readonly<Record<string, JSONSchemaProps>> = Object.freeze({
  observedGeneration: { type: 'integer', format: 'int64' },
  groups: listOf(
    fields({
      name: text,
      child: text,
      kind: text,
      phase: text,
      reason: text,
      message: text,
      nodes: count,
      readyNodes: count,
    }),
  ),
})

export const selectorFields: Readonly<Record<string, JSONSchemaProps>> = Object.freeze({
  matchLabels: textMap,
  matchExpressions: listOf(
    fields({ key: text, operator: text, values: texts }, ['key', 'operator']),
  ),
})

export const taint: JSONSchemaProps = fields(
  {
    key: text,
    value: labelValue,
    effect: oneOf('NoSchedule', 'PreferNoSchedule', 'NoExecute'),
    timeAdded: { type: 'string', format: 'date-time' },
  },
  ['key', 'effect'],
)
