/** How a table is sorted and which of its rows is chosen, as the address of its page has it. Pure. */
import type { UrlValues } from '../data/browser/use-url-values.ts'
import { viewLimits } from '../limits-table.ts'

export interface Sort {
  readonly key: string
  readonly isDescending: boolean
}

const descending = 'descending'

/** Returns the names of the values. A second table on a page has a name of its own in them. */
function valueNames(table: string | undefined) {
  const of = (name: string): string => (table === undefined ? name : `${table}-${name}`)
  return { sort: of('sort'), order: of('order'), row: of('row') }
}

interface TableOrder {
  /** Undefined for the only table of a page. */
  readonly table?: string | undefined
  /** The column by which the table is sorted before anybody sorts it. */
  readonly first: string
}

/** A column that the table does not have, as one of another kind, leaves the table in its first order. */
export function readSort(
  values: UrlValues,
  { table, first, columns }: TableOrder & { readonly columns: readonly { readonly key: string }[] },
): Sort {
  const { sort, order } = valueNames(table)
  const asked = values[sort] ?? first
  if (!columns.some(({ key }) => key === asked)) return { key: first, isDescending: false }
  return { key: asked, isDescending: values[order] === descending }
}

/** The first order is not written: the address of a page that nobody has changed is short. */
export function sortValues({ key, isDescending }: Sort, { table, first }: TableOrder): UrlValues {
  const { sort, order } = valueNames(table)
  return { [sort]: key === first ? '' : key, [order]: isDescending ? descending : '' }
}

export function readRow(values: UrlValues, table: string | undefined): string | undefined {
  return values[valueNames(table).row]
}

/** Returns undefined for a key that is too long for an address, as a cluster of strangers may send one. */
export function rowValues(row: string, table: string | undefined): UrlValues | undefined {
  return row.length > viewLimits.addressRowChars ? undefined : { [valueNames(table).row]: row }
}
