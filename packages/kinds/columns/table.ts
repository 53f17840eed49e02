import { rowConditions } from './column-table.ts'
import type { Kind, AnyObject, ListMeta, ObjectMeta } from '@skerry/api'

/** metav1.TableColumnDefinition. */
export interface TableColumnDefinition {
  name: string
  type: string
  format: string
  description: string
  priority: number
}

/** metav1.TableRowCondition. kubectl hides rows that are Completed if requested. */
export interface TableRowCondition {
  type: 'Completed'
  status: 'True' | 'False' | 'Unknown'
  reason?: string
  message?: string
}

export interface TableRow {
  cells: (string | number | boolean | null)[]
  conditions?: TableRowCondition[]
  object: AnyObject | PartialObjectMetadata | null
}

export interface Table {
  kind: 'Table'
  apiVersion: 'meta.k8s.io/v1'
  metadata: ListMeta
  columnDefinitions: TableColumnDefinition[] | null
  rows: TableRow[]
}

/** metav1.PartialObjectMetadata: the metadata of an object of any kind. */
export interface PartialObjectMetadata {
  kind: 'PartialObjectMetadata'
  apiVersion: 'meta.k8s.io/v1'
  metadata: ObjectMeta
}

export interface TableInput {
  readonly kind: Pick<Kind, 'group' | 'kind' | 'columns'>
  readonly objects: readonly AnyObject[]
  /** Milliseconds since the Unix epoch, for ages. */
  readonly nowMs: number
  /** The query parameter of that name. Default: Metadata. */
  readonly includeObject?: 'None' | 'Metadata' | 'Object'
  /** Leaves managedFields out of the metadata that rows include. Default: false. */
  readonly omitsManagedFields?: boolean
  /** The metadata of the list; for one object, its resourceVersion. */
  readonly metadata: ListMeta
  /** False for all events of a watch except the first. Default: true. */
  readonly hasHeaders?: boolean
}

/** Answers `Accept: application/json;as=Table;v=v1;g=meta.k8s.io`. */
export function tableOf(input: TableInput): Table {
  const { kind, objects, nowMs, metadata, hasHeaders = true } = input
  const conditionsOf = rowConditions[`${kind.group}/${kind.kind}`]
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: hasHeaders ? columnDefinitions(kind) : null,
    rows: objects.map((object) => {
      const conditions = conditionsOf?.(object) ?? []
      return {
        cells: kind.columns.map((column) => column.cell(object, nowMs)),
        ...(conditions.length > 0 ? { conditions } : {}),
        object: objectOfRow(object, input),
      }
    }),
  }
}

/** Answers `Accept: application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io`. */
export function partialObjectMetadata(object: AnyObject): PartialObjectMetadata {
  return {
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1',
    metadata: object.metadata,
  }
}

function columnDefinitions(kind: Pick<Kind, 'columns'>): TableColumnDefinition[] {
  return kind.columns.map(({ name, type, format, description, priority }) => ({
    name,
    type,
    format,
    description,
    priority,
  }))
}

function objectOfRow(
  object: AnyObject,
  { includeObject = 'Metadata', omitsManagedFields = false }: TableInput,
) {
  switch (includeObject) {
    case 'None':
      return null
    case 'Metadata': {
      const partial = partialObjectMetadata(object)
      if (!omitsManagedFields) return partial
      const { managedFields: _, ...metadata } = partial.metadata
      return { ...partial, metadata }
    }
    case 'Object':
      return object
  }
}
