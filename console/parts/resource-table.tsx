/** Objects of one kind as the server prints them, live. */
import { useDeferredValue, useMemo } from 'react'
import { useLocation } from 'wouter'
import { listPath, objectPage, type ResourceName } from '../data/hub/api-paths.ts'
import { useRetry, useWatched } from '../data/streams/console-context.tsx'
import { commandLine, listCommand } from '../data/objects/object-commands.ts'
import {
  cellText,
  isAge,
  matchesText,
  shownColumns,
  tableRows,
  type PlacedColumn,
  type RowMetadata,
  type TableRow,
} from '../data/objects/table-rows.ts'
import { useUrlValues } from '../data/browser/use-url-values.ts'
import type { ListView } from '../data/streams/watched-list.ts'
import { useTexts } from '../words/language.ts'
import { Age } from './age.tsx'
import { Empty, Failed, Loading } from './answer-state.tsx'
import { CopyButton } from './copy-button.tsx'
import { DataTable, type Column } from './data-table.tsx'
import { Freshness } from './freshness.tsx'
import { NamespaceField } from './namespace-field.tsx'
import { RowLink } from './row-link.tsx'
import { SearchField } from './search-field.tsx'
import { resourceTexts } from './resource-texts.ts'
import { partTexts } from './texts.ts'

interface ResourceTableProps {
  /** Undefined for the hub's own objects. */
  readonly cluster: string | undefined
  readonly resource: ResourceName
  readonly isNamespaced: boolean
  /** Stands at the start of the bar, such as a choice of kinds. */
  readonly choices?: React.ReactNode
  /** The page of an object. If omitted, the page that every kind has. */
  readonly pageOf?: (metadata: RowMetadata) => string | undefined
  /** Lists the objects with these labels alone. */
  readonly labelSelector?: string
  /** Says how to fill an empty list. If omitted, kubectl does. */
  readonly emptyHint?: React.ReactNode
}

export function ResourceTable(props: ResourceTableProps) {
  const { cluster, resource, isNamespaced, choices, labelSelector } = props
  const texts = useTexts(resourceTexts)
  const [values, setValues] = useUrlValues()
  const namespace = isNamespaced ? (values.namespace ?? '') : ''
  const selected =
    labelSelector === undefined ? '' : `?${new URLSearchParams({ labelSelector }).toString()}`
  const path = `${listPath(cluster, resource, namespace)}${selected}`
  const view = useWatched(path, true)
  const retry = useRetry(path, true)
  const rows = useMemo(() => tableRows(view), [view])
  const text = useDeferredValue(values.q ?? '')
  const shown = useMemo(() => rows.filter((row) => matchesText(row, text)), [rows, text])
  const words = useTexts(partTexts)
  return (
    <>
      <div className="bar">
        {choices}
        {isNamespaced ? (
          <NamespaceField
            value={values.namespace ?? ''}
            onChange={(next) => setValues({ namespace: next })}
          />
        ) : undefined}
        <span className="page-space" />
        <Freshness view={view} />
        {view.phase !== 'live' && rows.length === 0 ? undefined : (
          <span className="muted">{words.rows(shown.length, rows.length)}</span>
        )}
        <SearchField
          value={values.q ?? ''}
          label={texts.filter}
          onChange={(q) => setValues({ q })}
        />
        <CopyButton
          label={words.asKubectl}
          text={`${listCommand(cluster, resource, isNamespaced ? namespace : undefined)}${labelSelector === undefined ? '' : ` ${commandLine('-l', labelSelector)}`}`}
        />
      </div>
      <Rows
        {...{ cluster, resource, view, shown, retry, isNamespaced }}
        pageOf={props.pageOf}
        emptyHint={props.emptyHint}
      />
    </>
  )
}

interface RowsProps {
  readonly cluster: string | undefined
  readonly resource: ResourceName
  readonly view: ListView
  readonly shown: readonly TableRow[]
  readonly retry: () => void
  readonly isNamespaced: boolean
  readonly pageOf: ResourceTableProps['pageOf']
  readonly emptyHint: React.ReactNode
}

function Rows({ cluster, resource, view, shown, retry, isNamespaced, ...props }: RowsProps) {
  const ownPage = props.pageOf
  const texts = useTexts(resourceTexts)
  const words = useTexts(partTexts)
  const [, navigate] = useLocation()
  const pageOf = useMemo(
    () =>
      ({ metadata }: TableRow): string =>
        ownPage?.(metadata) ??
        objectPage(cluster, {
          ...resource,
          name: metadata.name ?? '',
          ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
        }),
    [cluster, resource, ownPage],
  )
  const given = view.columns
  const columns = useMemo(
    () =>
      columnsOf({
        columns: given,
        pageOf,
        namespaceTitle: isNamespaced ? texts.namespace : undefined,
      }),
    [given, pageOf, isNamespaced, texts],
  )
  if (view.error !== undefined) return <Failed error={view.error} onRetry={retry} />
  if (view.phase === 'away' && view.items.size === 0) {
    return (
      <Empty title={words.awayTitle}>
        <p className="empty-text">{view.message}</p>
        <button type="button" className="button" onClick={retry}>
          {words.retry}
        </button>
      </Empty>
    )
  }
  if (view.phase === 'loading') return <Loading />
  if (view.items.size === 0) {
    return (
      <Empty title={texts.empty(resource.resource)}>
        {props.emptyHint ?? (
          <p>
            {texts.emptyHint} <code>kubectl apply -f FILE</code>
          </p>
        )}
      </Empty>
    )
  }
  if (shown.length === 0) return <Empty title={words.noMatch} />
  return (
    <DataTable
      label={resource.resource}
      rows={shown}
      columns={columns}
      keyOf={({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`}
      initialSort="Name"
      isOld={({ metadata }) => view.phase !== 'live' || metadata.deletionTimestamp !== undefined}
      onOpen={(row) => navigate(pageOf(row))}
    />
  )
}

interface ColumnsOf {
  readonly columns: ListView['columns']
  readonly pageOf: (row: TableRow) => string
  /** Undefined for kinds without namespaces. */
  readonly namespaceTitle: string | undefined
}

function columnsOf({ columns, pageOf, namespaceTitle }: ColumnsOf): Column<TableRow>[] {
  const namespace: Column<TableRow>[] =
    namespaceTitle === undefined
      ? []
      : [
          {
            key: 'namespace',
            title: namespaceTitle,
            width: 'minmax(90px, 1fr)',
            sortBy: ({ metadata }) => metadata.namespace ?? '',
            cell: ({ metadata }) => metadata.namespace,
          },
        ]
  return [...namespace, ...shownColumns(columns).map((each) => columnOf(each, pageOf))]
}

function columnOf(
  { column, at }: PlacedColumn,
  pageOf: (row: TableRow) => string,
): Column<TableRow> {
  const { name, type } = column
  const shared = { key: name, title: name, isNumber: type === 'integer' || type === 'number' }
  if (name === 'Name') {
    return {
      ...shared,
      width: 'minmax(150px, 2fr)',
      sortBy: ({ metadata }) => metadata.name ?? '',
      cell: (row) => <RowLink href={pageOf(row)}>{row.metadata.name}</RowLink>,
      hint: ({ metadata }) => metadata.name ?? '',
    }
  }
  if (isAge(column)) {
    return {
      ...shared,
      width: '84px',
      sortBy: ({ metadata }) => -Date.parse(metadata.creationTimestamp ?? ''),
      cell: ({ metadata }) => <Age atMs={Date.parse(metadata.creationTimestamp ?? '')} isBare />,
    }
  }
  return {
    ...shared,
    width: name === 'Message' ? 'minmax(200px, 4fr)' : 'minmax(70px, 1fr)',
    sortBy: ({ cells }) =>
      typeof cells[at] === 'number' ? Number(cells[at]) : cellText(cells[at]),
    cell: ({ cells }) => cellText(cells[at]),
    hint: ({ cells }) => cellText(cells[at]),
  }
}
