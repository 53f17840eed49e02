/** Rows of a server's Table, as a watch brings them. Pure. */
import { viewLimits } from '../../limits-table.ts'
import type { TableColumn } from '../streams/stream-frames.ts'
import type { ListView } from '../streams/watched-list.ts'

export interface RowMetadata {
  readonly name?: string
  readonly namespace?: string
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly labels?: Readonly<Record<string, string>>
}

export interface TableRow {
  readonly cells: readonly unknown[]
  readonly metadata: RowMetadata
}

interface RowOnWire {
  readonly cells?: readonly unknown[]
  readonly object?: { readonly metadata?: RowMetadata }
  readonly metadata?: RowMetadata
}

/** The rows of items, which never change: a row that is the same one is not drawn again. */
const rowsOfItems = new WeakMap<object, TableRow>()

export function tableRows(view: ListView): TableRow[] {
  return [...view.items.values()].flatMap((item) => {
    if (typeof item !== 'object' || item === null) return []
    const known = rowsOfItems.get(item)
    if (known !== undefined) return [known]
    const row = rowOf(item)
    rowsOfItems.set(item, row)
    return [row]
  })
}

/** The metadata may stand in the row, or in the object of the row as Kubernetes has it. */
function rowOf(row: RowOnWire): TableRow {
  return { cells: row.cells ?? [], metadata: row.object?.metadata ?? row.metadata ?? {} }
}

/** A column and its place in the cells. */
export interface PlacedColumn {
  readonly column: TableColumn
  readonly at: number
}

/** The columns that kubectl prints without being asked for more; with `isAll`, the others, too. */
export function shownColumns(columns: readonly TableColumn[], isAll = false): PlacedColumn[] {
  return columns
    .map((column, at) => ({ column, at }))
    .filter(({ column }) => isAll || (column.priority ?? 0) === 0)
}

/** An age in a Table was right when the row was printed; it must be counted from the object's time instead. */
export function isAge({ name, type }: TableColumn): boolean {
  return name === 'Age' && type !== 'date'
}

/** Returns a cell as it is shown: a cluster may print a text that no table can hold. */
export function cellText(cell: unknown): string {
  if (cell === null || cell === undefined) return ''
  const text = typeof cell === 'string' ? cell : JSON.stringify(cell)
  const max = viewLimits.cellChars
  return text.length > max ? `${text.slice(0, max)}…` : text
}

export function matchesText({ metadata, cells }: TableRow, text: string): boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return true
  const labels = Object.entries(metadata.labels ?? {}).map(([key, value]) => `${key}=${value}`)
  const searched = [metadata.namespace, ...cells.map(cellText), ...labels].join('\n').toLowerCase()
  return words.every((word) => searched.includes(word))
}
