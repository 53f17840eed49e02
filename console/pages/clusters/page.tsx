/** All clusters as a table. Its filters stand in the address. */
import { useDeferredValue, useMemo } from 'react'
import { Link, useLocation } from 'wouter'
import { isOutOfSight, matchesFilter, type FleetRow } from '../../data/fleet/fleet.ts'
import { useFleet } from '../../data/fleet/fleet-rows.ts'
import { useUrlValues } from '../../data/browser/use-url-values.ts'
import { Age } from '../../parts/age.tsx'
import { Empty, Loading } from '../../parts/answer-state.tsx'
import { FailedPage } from '../../parts/failed-page.tsx'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { Icon } from '../../parts/icon.tsx'
import { LabelChips } from '../../parts/label-chips.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { RowLink } from '../../parts/row-link.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { ShareBar } from '../../parts/share-bar.tsx'
import { readStates, StateFilter } from '../../parts/state-filter.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { partTexts } from '../../parts/texts.ts'
import { useTexts } from '../../words/language.ts'
import { texts as both } from './texts.ts'

export function ClustersPage() {
  const texts = useTexts(both)
  const { view, rows, retry } = useFleet()
  if (view.error !== undefined) {
    return <FailedPage title={texts.title} error={view.error} onRetry={retry} />
  }
  return (
    <PageFrame title={texts.title} view={view}>
      {view.phase === 'loading' ? (
        <Loading />
      ) : rows.length === 0 ? (
        <Empty title={texts.empty}>
          <Link href="/connect">{texts.connect}</Link>
        </Empty>
      ) : (
        <ClusterTable rows={rows} />
      )}
    </PageFrame>
  )
}

function ClusterTable({ rows }: { readonly rows: readonly FleetRow[] }) {
  const texts = useTexts(both)
  const words = useTexts(partTexts)
  const [, navigate] = useLocation()
  const [values, setValues] = useUrlValues()
  const text = useDeferredValue(values.q ?? '')
  const labels = useMemo(() => (values.label ?? '').split(',').filter(Boolean), [values.label])
  const shown = useMemo(
    () =>
      rows.filter((row) => matchesFilter(row, { text, labels, states: readStates(values.state) })),
    [rows, text, labels, values.state],
  )
  const columns = useMemo(
    () =>
      columnsOf(texts, (label) => setValues({ label: [...new Set([...labels, label])].join(',') })),
    [texts, labels, setValues],
  )
  return (
    <>
      <div className="bar">
        <StateFilter
          rows={rows}
          chosen={readStates(values.state)}
          onChange={(next) => setValues({ state: next.join(',') })}
        />
        {labels.map((label) => (
          <button
            key={label}
            type="button"
            className="chip is-chosen"
            aria-label={texts.label(label)}
            onClick={() => setValues({ label: labels.filter((each) => each !== label).join(',') })}
          >
            {label} <Icon name="close" />
          </button>
        ))}
        <span className="page-space" />
        <span className="muted">{words.rows(shown.length, rows.length)}</span>
        <SearchField
          value={values.q ?? ''}
          label={texts.filter}
          onChange={(q) => setValues({ q })}
        />
      </div>
      {shown.length === 0 ? (
        <Empty title={words.noMatch}>
          <button
            type="button"
            className="button"
            onClick={() => setValues({ q: '', state: '', label: '' })}
          >
            {words.clearFilter}
          </button>
        </Empty>
      ) : (
        <DataTable
          label={texts.title}
          rows={shown}
          columns={columns}
          keyOf={(row) => row.n}
          initialSort="name"
          isOld={isOutOfSight}
          onOpen={(row) => navigate(`/clusters/${encodeURIComponent(row.n)}`)}
        />
      )}
    </>
  )
}

type Texts = (typeof both)['en']

function columnsOf(texts: Texts, onLabel: (label: string) => void): readonly Column<FleetRow>[] {
  return [...placeColumns(texts), ...loadColumns(texts), ...wordColumns(texts, onLabel)]
}

function placeColumns(texts: Texts): Column<FleetRow>[] {
  return [
    {
      key: 'state',
      title: texts.state,
      width: '136px',
      sortBy: ({ s }) => s,
      cell: ({ s, t }) => (
        <StateMark state={s}>
          {t === undefined || s === 'ready' ? undefined : <Age atMs={t * 1_000} isBare />}
        </StateMark>
      ),
    },
    {
      key: 'name',
      title: texts.name,
      width: 'minmax(110px, 1.3fr)',
      sortBy: ({ n }) => n,
      cell: ({ n, parent }) => (
        <>
          <RowLink href={`/clusters/${encodeURIComponent(n)}`}>{n}</RowLink>
          {parent === undefined ? undefined : (
            <span className="muted"> {texts.through(parent)}</span>
          )}
        </>
      ),
    },
    {
      key: 'place',
      title: texts.place,
      width: 'minmax(90px, 1.1fr)',
      isWide: true,
      sortBy: ({ r = '', z = '' }) => `${r} ${z}`,
      cell: ({ r, z }) => <span title={[r, z].filter(Boolean).join(' / ')}>{z ?? r}</span>,
    },
    {
      key: 'version',
      title: texts.version,
      width: '64px',
      isWide: true,
      sortBy: ({ v = '' }) => v,
      cell: ({ v }) => v,
    },
  ]
}

function loadColumns(texts: Texts): Column<FleetRow>[] {
  return [
    {
      key: 'nodes',
      title: texts.nodes,
      width: '52px',
      isNumber: true,
      sortBy: ({ nt = 0 }) => nt,
      cell: ({ nr, nt }) => (nt === undefined ? '–' : `${nr ?? 0}/${nt}`),
    },
    {
      key: 'pods',
      title: texts.pods,
      width: '48px',
      isNumber: true,
      isWide: true,
      sortBy: ({ pc = 0 }) => pc,
      cell: ({ pc }) => pc ?? '–',
    },
    {
      key: 'cpu',
      title: texts.cpu,
      width: '92px',
      isWide: true,
      sortBy: ({ cpu = -1 }) => cpu,
      cell: ({ cpu }) => <ShareBar share={cpu} />,
    },
    {
      key: 'memory',
      title: texts.memory,
      width: '92px',
      isWide: true,
      sortBy: ({ mem = -1 }) => mem,
      cell: ({ mem }) => <ShareBar share={mem} />,
    },
  ]
}

function wordColumns(texts: Texts, onLabel: (label: string) => void): Column<FleetRow>[] {
  return [
    {
      key: 'labels',
      title: texts.labels,
      width: 'minmax(90px, 1.4fr)',
      isWide: true,
      cell: ({ l }) => <LabelChips labels={l} onChoose={onLabel} />,
    },
    {
      key: 'message',
      title: texts.message,
      width: 'minmax(60px, 1.2fr)',
      isWide: true,
      sortBy: ({ m = '' }) => m,
      cell: ({ m }) => <span title={m}>{m}</span>,
    },
  ]
}
