/** A table of thousands of rows: fixed heights, only the visible ones drawn, sorted by a click, walked by keys. */
import {
  memo,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type CSSProperties,
  type KeyboardEvent,
} from 'react'
import { useNarrow } from './use-narrow.ts'
import { viewLimits } from '../limits-table.ts'
import { rowHeights, useDensity } from '../words/density.ts'
import { useTexts } from '../words/language.ts'
import { rowWindow, scrollToRow } from './row-window.ts'
import { sortedRows } from './sorted-rows.ts'
import { readSort, sortValues, type Sort } from './table-address.ts'
import { partTexts } from './texts.ts'
import { useTableAddress, type TableAddress } from './use-table-address.ts'

export interface Column<Row> {
  readonly key: string
  readonly title: string
  /** A CSS track: `2fr`, `90px`, `minmax(120px, 1fr)`. */
  readonly width: string
  readonly cell: (row: Row) => React.ReactNode
  /** The whole text of a cell that is nothing but a text, for one that is cut off. */
  readonly hint?: (row: Row) => string
  /** Texts are compared with numbers in them counted. A column without it cannot sort. */
  readonly sortBy?: (row: Row) => string | number
  readonly isNumber?: boolean
  /** Left out on a phone. */
  readonly isWide?: boolean
}

export interface DataTableProps<Row> {
  readonly label: string
  readonly rows: readonly Row[]
  readonly columns: readonly Column<Row>[]
  readonly keyOf: (row: Row) => string
  readonly onOpen?: (row: Row) => void
  readonly initialSort?: string
  /** The name of this table in the address of a page that has two of them. */
  readonly addressName?: string
  /** Rows that are drawn as old. */
  readonly isOld?: (row: Row) => boolean
}

/** A property of the style sheet, which the types of React do not know. */
interface Tracks extends CSSProperties {
  readonly '--tracks': string
}

const ownKeys = 'input, textarea, select, button, a, dialog'

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { keyOf, onOpen, label } = props
  const rowPx = rowHeights[useDensity()]
  const columns = useShownColumns(props.columns)
  const address = useTableAddress(props.addressName)
  const { chosen, move, choose } = address
  const { sorted, sort, onSort } = useOrder(props, address)
  const head = useRef<HTMLDivElement>(null)
  const body = useRef<HTMLDivElement>(null)
  const view = useScrollView(body, head)
  const drawn = rowWindow({
    ...view,
    rows: sorted.length,
    rowPx,
    overscan: viewLimits.overscanRows,
  })
  // All rows share one text: a row that comes into sight sets nothing but its place.
  const tracks: Tracks = { '--tracks': columns.map(({ width }) => width).join(' ') }
  const at = useMemo(
    () => (chosen === undefined ? -1 : sorted.findIndex((row) => keyOf(row) === chosen)),
    [sorted, keyOf, chosen],
  )
  useFirstSight(body, at, rowPx)
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!isForTable(event)) return
    const next = rowAfterKey(event, at, sorted.length)
    const row = sorted[next]
    if (event.key === 'Enter' || event.key === 'o') {
      const current = sorted[at]
      if (current === undefined) return
      choose(keyOf(current))
      onOpen?.(current)
    } else if (row !== undefined && next !== at) {
      event.preventDefault()
      move(keyOf(row))
      body.current?.scrollTo({ top: scrollToRow(next, { ...view, rowPx }) })
    }
  }
  return (
    <div
      className="table"
      role="grid"
      aria-label={label}
      aria-rowcount={sorted.length + 1}
      aria-activedescendant={at < 0 ? undefined : rowId(label, chosen ?? '')}
      tabIndex={0}
      style={tracks}
      onKeyDown={onKeyDown}
    >
      <TableHead columns={columns} sort={sort} onSort={onSort} room={head} />
      <div className="table-body" role="rowgroup" ref={body}>
        <div className="table-space" style={{ height: sorted.length * rowPx }}>
          {sorted.slice(drawn.first, drawn.end).map((row, index) => (
            <TableRow
              key={keyOf(row)}
              id={rowId(label, keyOf(row))}
              rowKey={keyOf(row)}
              index={drawn.first + index}
              isChosen={keyOf(row) === chosen}
              isOld={props.isOld?.(row) ?? false}
              onChoose={choose}
              {...{ row, rowPx, columns }}
            />
          ))}
        </div>
      </div>
    </div>
  )
}

function useShownColumns<Row>(columns: readonly Column<Row>[]): readonly Column<Row>[] {
  const isNarrow = useNarrow()
  return useMemo(
    () => columns.filter(({ isWide }) => !isNarrow || isWide !== true),
    [columns, isNarrow],
  )
}

/** Keeps the order of the rows in the address. A phone sorts also by columns for which it has no room. */
function useOrder<Row>(
  { rows, columns, initialSort: first = '', addressName: table }: DataTableProps<Row>,
  { values, change }: TableAddress,
) {
  const { key, isDescending } = readSort(values, { table, first, columns })
  const sort = useMemo((): Sort => ({ key, isDescending }), [key, isDescending])
  const sorted = useMemo(() => sortRows(rows, columns, sort), [rows, columns, sort])
  const onSort = (next: Sort): void => change(sortValues(next, { table, first }))
  return { sorted, sort, onSort }
}

interface TableRowProps<Row> {
  readonly id: string
  readonly rowKey: string
  readonly row: Row
  /** Its place among all rows. */
  readonly index: number
  readonly rowPx: number
  readonly columns: readonly Column<Row>[]
  readonly isChosen: boolean
  readonly isOld: boolean
  readonly onChoose: (rowKey: string) => void
}

function DrawnRow<Row>(props: TableRowProps<Row>) {
  const { id, rowKey, row, index, rowPx, columns, isChosen, isOld, onChoose } = props
  return (
    <div
      id={id}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isChosen}
      className={`table-row${isOld ? ' is-old' : ''}`}
      style={{ top: index * rowPx }}
      // Before a link in the row leads away.
      onClickCapture={() => onChoose(rowKey)}
    >
      {columns.map((column) => (
        <div
          key={column.key}
          role="gridcell"
          className={cellClass(column)}
          title={column.hint?.(row)}
        >
          {column.cell(row)}
        </div>
      ))}
    </div>
  )
}

/** A table that scrolls draws the rows that come, and no others. `memo` keeps the parameter of the type. */
const TableRow = memo(DrawnRow) as typeof DrawnRow

interface TableHeadProps<Row> {
  readonly columns: readonly Column<Row>[]
  readonly sort: Sort
  readonly onSort: (sort: Sort) => void
  readonly room: React.RefObject<HTMLDivElement | null>
}

function TableHead<Row>({ columns, sort, onSort, room }: TableHeadProps<Row>) {
  const texts = useTexts(partTexts)
  return (
    <div role="rowgroup">
      <div ref={room} className="table-head" role="row">
        {columns.map((column) => {
          const isSorted = sort.key === column.key
          const order = sort.isDescending ? 'descending' : 'ascending'
          return (
            <div
              key={column.key}
              role="columnheader"
              className={cellClass(column)}
              aria-sort={isSorted ? order : undefined}
            >
              {column.sortBy === undefined ? (
                column.title
              ) : (
                <button
                  type="button"
                  className="table-sort"
                  title={texts.sortBy(column.title)}
                  onClick={() =>
                    onSort({ key: column.key, isDescending: isSorted && !sort.isDescending })
                  }
                >
                  {column.title}
                  <span aria-hidden="true">
                    {isSorted ? (sort.isDescending ? ' ↓' : ' ↑') : ''}
                  </span>
                </button>
              )}
            </div>
          )
        })}
      </div>
    </div>
  )
}

function cellClass({ isNumber }: { readonly isNumber?: boolean }): string {
  return isNumber ? 'cell is-number' : 'cell'
}

/** Texts of others become ids only in this form. */
function rowId(label: string, key: string): string {
  return `row-${encodeURIComponent(label)}-${encodeURIComponent(key)}`
}

function sortRows<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { key, isDescending }: Sort,
): readonly Row[] {
  const sortBy = columns.find((column) => column.key === key)?.sortBy
  return sortBy === undefined ? rows : sortedRows(rows, sortBy, isDescending)
}

/** Fields and buttons in a row, and questions that they ask, have their own keys; so has the browser, and the palette. */
function isForTable({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey) return false
  return !(target instanceof HTMLElement) || target.closest(ownKeys) === null
}

/** Arrows and the keys of vi move by one; the others by more. */
function rowAfterKey({ key }: KeyboardEvent, at: number, rows: number): number {
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: at + 1,
    j: at + 1,
    ArrowUp: at - 1,
    k: at - 1,
    PageDown: at + 15,
    PageUp: at - 15,
    Home: 0,
    End: rows - 1,
  }
  const next = steps[key]
  return next === undefined ? at : Math.max(0, Math.min(rows - 1, next))
}

/** Scrolls to the row that the address names, once. */
function useFirstSight(
  body: React.RefObject<HTMLDivElement | null>,
  at: number,
  rowPx: number,
): void {
  const isSeen = useRef(false)
  useLayoutEffect(() => {
    const element = body.current
    if (isSeen.current || at < 0 || element === null) return
    isSeen.current = true
    const { scrollTop: topPx, clientHeight: heightPx } = element
    element.scrollTo({ top: scrollToRow(at, { rowPx, topPx, heightPx }) })
  }, [body, at, rowPx])
}

/** The head moves sideways with the rows, which are wider than a phone. */
function useScrollView(
  body: React.RefObject<HTMLDivElement | null>,
  head: React.RefObject<HTMLDivElement | null>,
) {
  const [view, setView] = useState({ topPx: 0, heightPx: 600 })
  useLayoutEffect(() => {
    const element = body.current
    if (element === null) return
    const read = (): void => {
      head.current?.scrollTo({ left: element.scrollLeft })
      setView((before) => {
        const next = { topPx: element.scrollTop, heightPx: element.clientHeight }
        const isSame = before.topPx === next.topPx && before.heightPx === next.heightPx
        return isSame ? before : next
      })
    }
    read()
    element.addEventListener('scroll', read, { passive: true })
    const observer = new ResizeObserver(read)
    observer.observe(element)
    return () => {
      element.removeEventListener('scroll', read)
      observer.disconnect()
    }
  }, [body, head])
  return view
}
