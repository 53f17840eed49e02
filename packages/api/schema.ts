/**
 * The compact schema of a type. Built-in kinds get theirs from generated facts
 * (generated/schema.json), CRDs from their structural schema at run time. Both have the same shape,
 * so that validation, pruning, patches and OpenAPI have one input.
 */
export interface Schema {
  /** The JSON type. If omitted, any JSON value. */
  type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean'
  /** int32, int64, double, byte, date-time, int-or-string, quantity, … */
  format?: string
  /** The name of another definition in the same SchemaSet, e.g. `io.k8s.api.core.v1.PodSpec`. */
  ref?: string
  /** The properties; those of a built-in type are in the order of its Go struct. */
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  /** The values of a map, keyed by any string. */
  additionalProperties?: Schema
  items?: Schema
  /** A default that upstream declares in its OpenAPI, or a CRD in its schema. */
  default?: unknown
  enum?: readonly unknown[]
  /** True for a field whose values false, 0 and "" equal an omitted one and are never written. */
  omitZero?: boolean
  /** True for a field that is always written, as null if nothing is set. */
  writesNull?: boolean
  nullable?: boolean
  /** The Go type's name if it differs from that of the JSON type, e.g. `v1.PodPhase`; for messages. */
  goType?: string
  /** The inlined Go structs that contain the field, e.g. `ProbeHandler`; for messages. */
  goWithin?: string
  /** x-kubernetes-list-type. If omitted, atomic for server-side apply. */
  listType?: 'atomic' | 'set' | 'map'
  listMapKeys?: readonly string[]
  /** x-kubernetes-map-type. */
  mapType?: 'atomic' | 'granular'
  /** x-kubernetes-patch-strategy, split at the comma. */
  patchStrategy?: readonly string[]
  patchMergeKey?: string
  intOrString?: boolean
  preserveUnknownFields?: boolean
  embeddedResource?: boolean
  /** For metadata: a CRD's schemas of `name` and `generateName`. */
  names?: Readonly<Record<string, Schema>>
  /** x-kubernetes-unions, as upstream writes them. */
  unions?: readonly { discriminator?: string; fields?: Readonly<Record<string, string>> }[]
  /** JSON-schema value validations of CRDs (minimum, pattern, oneOf, …), unchanged. */
  validations?: Readonly<Record<string, unknown>>
}

/** Definitions by upstream's OpenAPI name. */
export type SchemaSet = Readonly<Record<string, Schema>>
