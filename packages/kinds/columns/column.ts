import {
  StatusError,
  ageOf,
  labelSelectorOf,
  type AnyObject,
  type Column,
  type Container,
  type KubeObject,
  type LabelSelectorFields,
} from '@skerry/api'

export type Cell = string | number | boolean | null

/** A column whose cell reads a typed object. */
export interface CellOf<T> {
  readonly name: string
  readonly cell: (object: T, nowMs: number) => Cell
  readonly type?: Column['type']
  readonly format?: string
  /** 0 (default) means always shown, 1 only with -o wide. */
  readonly priority?: number
}

/** Columns of one kind. */
export function columnsOf<T extends KubeObject>(cells: readonly CellOf<T>[]): readonly Column[] {
  return cells.map(({ name, cell, type = 'string', format = '', priority = 0 }) => ({
    name,
    type,
    format,
    description: '',
    priority,
    // The table of columns is keyed by kind, and the registry has decoded each object against its
    // kind's schema, which T is generated from: an AnyObject here is a T.
    cell: (object: AnyObject, nowMs: number) => cell(object as unknown as T, nowMs),
  }))
}

export const nameCell: CellOf<KubeObject> = {
  name: 'Name',
  format: 'name',
  cell: (object) => object.metadata.name ?? '',
}

export const ageCell: CellOf<KubeObject> = {
  name: 'Age',
  cell: (object, nowMs) => ageOf(object.metadata.creationTimestamp, nowMs),
}

/** The columns of kinds without special ones. */
export const defaultColumns = columnsOf<KubeObject>([
  nameCell,
  {
    name: 'Created At',
    type: 'date',
    cell: (object) => object.metadata.creationTimestamp ?? null,
  },
])

export function integer<T>(name: string, cell: (object: T) => number | undefined): CellOf<T> {
  return { name, type: 'integer', cell: (object) => cell(object) ?? 0 }
}

/** A column that only -o wide shows. */
export function wide<T>(name: string, cell: CellOf<T>['cell']): CellOf<T> {
  return { name, priority: 1, cell }
}

/** Names, images and selector, which every kind with a pod template shows with -o wide. */
export function containerCells<T>(containers: (object: T) => readonly Container[] | undefined) {
  return [
    wide<T>('Containers', (object) => joined(containers(object)?.map(({ name }) => name))),
    wide<T>('Images', (object) => joined(containers(object)?.map(({ image = '' }) => image))),
  ]
}

export function joined(texts: readonly string[] | undefined, separator = ','): string {
  return (texts ?? []).join(separator)
}

/** Formats labels as `a=b,c=d`, sorted by key. */
export function labelsText(labels: Readonly<Record<string, string>> | undefined): string {
  const entries = Object.entries(labels ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return entries.map(([key, value]) => `${key}=${value}`).join(',') || '<none>'
}

export function selectorText(selector: LabelSelectorFields | undefined): string {
  try {
    return labelSelectorOf(selector).toString() || '<none>'
  } catch (error) {
    if (error instanceof StatusError) return '<error>'
    throw error
  }
}

/** Formats the first few of a list, and the number of further ones. */
export function firstFew(texts: readonly string[], most: number, separator = ','): string {
  const shown = texts.slice(0, most).join(separator)
  return texts.length > most ? `${shown} + ${texts.length - most} more...` : shown
}

export function orText(text: string | undefined, otherwise: string): string {
  return text === undefined || text === '' ? otherwise : text
}

export function isTerminating(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined
}
