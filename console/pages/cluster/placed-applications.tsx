import { useMemo } from 'react'
import { Link } from 'wouter'
import { listPath } from '../../data/hub/api-paths.ts'
import { useUrlValues } from '../../data/browser/use-url-values.ts'
import type { DiscoveredKind } from '../../data/objects/discovered-kinds.ts'
import {
  phases,
  placedPage,
  placedTotals,
  type PlacedApplication,
  type PlacedTotals,
} from '../../data/places/placed-application.ts'
import { useWatchedLists } from '../../data/streams/use-watched-lists.ts'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { PhaseMark } from '../../parts/phase-mark.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { useTexts } from '../../words/language.ts'
import { OldestView, WatchedRows } from './watched-rows.tsx'
import { placesTexts as both, type PlacesTexts } from './places-texts.ts'

interface ApplicationsProps {
  readonly cluster: string
  readonly served: readonly DiscoveredKind[]
}

interface ApplicationRow {
  readonly app: PlacedApplication
  readonly served: DiscoveredKind
  readonly totals: PlacedTotals
}

/** The applications that have a child in each place, by how their places are. */
export function PlacedApplications({ cluster, served }: ApplicationsProps) {
  const texts = useTexts(both)
  const [values, setValues] = useUrlValues()
  const namespace = values.namespace ?? ''
  const views = useWatchedLists(served.map((kind) => listPath(cluster, kind, namespace)))
  const text = (values.q ?? '').toLowerCase()
  const rows = useMemo(
    () =>
      served
        .flatMap((kind, at) =>
          // Objects of these kinds.
          ([...(views[at]?.items.values() ?? [])] as PlacedApplication[]).map((app) => ({
            app,
            served: kind,
            totals: placedTotals(app),
          })),
        )
        .filter(({ app: { metadata }, served: { kind }, totals }) =>
          `${metadata.name} ${metadata.namespace} ${kind} ${totals.problem}`
            .toLowerCase()
            .includes(text),
        ),
    [served, views, text],
  )
  const columns = useMemo(() => applicationColumns(texts, cluster), [texts, cluster])
  return (
    <>
      <div className="bar">
        <h2>{texts.applications}</h2>
        <label className="select">
          <span>{texts.namespace}</span>
          <input
            className="namespace"
            value={namespace}
            placeholder={texts.allNamespaces}
            spellCheck={false}
            onChange={(event) => setValues({ namespace: event.target.value.trim() })}
          />
        </label>
        <span className="page-space" />
        <OldestView views={views} />
        <SearchField
          value={values.q ?? ''}
          label={texts.filter}
          onChange={(q) => setValues({ q })}
        />
      </div>
      <WatchedRows
        views={views}
        rows={rows}
        title={texts.noApplications}
        hint={texts.noApplicationsHint(served.map(({ kind }) => kind).join(', '))}
      >
        <DataTable
          label={texts.applications}
          rows={rows}
          columns={columns}
          keyOf={keyOfApplication}
          initialSort="name"
          isOld={() => views.some(({ phase }) => phase !== 'live')}
        />
      </WatchedRows>
    </>
  )
}

function keyOfApplication({ served, app: { metadata } }: ApplicationRow): string {
  return `${served.resource}/${metadata.namespace ?? ''}/${metadata.name}`
}

function applicationColumns(texts: PlacesTexts, cluster: string): Column<ApplicationRow>[] {
  return [
    {
      key: 'name',
      title: texts.name,
      width: 'minmax(130px, 2fr)',
      sortBy: ({ app }) => app.metadata.name,
      hint: ({ app }) => app.metadata.name,
      cell: ({ app, served }) => (
        <Link href={placedPage(cluster, served, app.metadata)}>{app.metadata.name}</Link>
      ),
    },
    {
      key: 'kind',
      title: texts.kind,
      width: 'minmax(100px, 1fr)',
      isWide: true,
      sortBy: ({ served }) => served.kind,
      cell: ({ served }) => served.kind,
    },
    {
      key: 'namespace',
      title: texts.namespace,
      width: 'minmax(80px, 1fr)',
      isWide: true,
      sortBy: ({ app }) => app.metadata.namespace ?? '',
      cell: ({ app }) => app.metadata.namespace,
    },
    {
      key: 'state',
      title: texts.state,
      width: '120px',
      sortBy: ({ totals }) => (totals.worst === undefined ? -1 : phases.indexOf(totals.worst)),
      cell: ({ totals }) => (totals.worst === undefined ? '–' : <PhaseMark phase={totals.worst} />),
    },
    {
      key: 'ready',
      title: texts.ready,
      width: '72px',
      isNumber: true,
      sortBy: ({ totals }) => totals.ready,
      cell: ({ totals }) => `${totals.ready} / ${totals.total}`,
    },
    {
      key: 'problem',
      title: texts.problem,
      width: 'minmax(160px, 3fr)',
      isWide: true,
      hint: ({ totals }) => totals.problem,
      cell: ({ totals }) => totals.problem,
    },
  ]
}
