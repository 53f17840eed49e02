/**
 * The compact schema of a type. Built-in kinds get theirs from generated facts
 * (generated/schema.json), CRDs from their structural schema at run time: both the same shape, so
 * that validation, pruning, patches and OpenAPI have one input.
 */
export interface Schema {
  /** Absent: any JSON value. */
  type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean'
  /** int32, int64, double, byte, date-time, int-or-string, quantity, … */
  format?: string
  /** Name of another definition in the same SchemaSet, e.g. `io.k8s.api.core.v1.PodSpec`. */
  ref?: string
  /** Those of a built-in type stand in the order of its Go struct. */
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  /** Values of a map, keyed by any string. */
  additionalProperties?: Schema
  items?: Schema
  /** A default that upstream declares in its OpenAPI or a CRD's schema. */
  default?: unknown
  enum?: readonly unknown[]
  /** Of a field: false, 0 and "" are the same as absent, and are never written. */
  omitZero?: boolean
  /** Of a field: it is always written, as null where nothing is set. */
  writesNull?: boolean
  nullable?: boolean
  /** The Go type's name where it is not that of the JSON type, e.g. `v1.PodPhase`; for messages. */
  goType?: string
  /** Of a field: the inlined Go structs it stands in, e.g. `ProbeHandler`; for messages. */
  goWithin?: string
  /** x-kubernetes-list-type; absent means atomic for server-side apply. */
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
  /** Of metadata: what a CRD says of `name` and `generateName`. */
  names?: Readonly<Record<string, Schema>>
  /** Unions: x-kubernetes-unions, as upstream writes them. */
  unions?: readonly { discriminator?: string; fields?: Readonly<Record<string, string>> }[]
  /** JSON-schema value validations of CRDs (minimum, pattern, oneOf, …), kept as they stand. */
  validations?: Readonly<Record<string, unknown>>
}

/** Definitions by upstream's OpenAPI name. */
export type SchemaSet = Readonly<Record<string, Schema>>
