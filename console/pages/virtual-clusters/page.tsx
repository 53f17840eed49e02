/** All virtual clusters of the fleet, by the cluster that they are part of. */
import { useMemo } from 'react'
import { Link } from 'wouter'
import { byName, clusterStates, isOutOfSight, type FleetRow } from '../../data/fleet/fleet.ts'
import { useFleet } from '../../data/fleet/fleet-rows.ts'
import { Empty, Loading } from '../../parts/answer-state.tsx'
import { FailedPage } from '../../parts/failed-page.tsx'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { useTexts } from '../../words/language.ts'
import { texts as both, type VirtualTexts } from './texts.ts'

export function VirtualClustersPage() {
  const texts = useTexts(both)
  const { view, rows, retry } = useFleet()
  const virtual = useMemo(
    () =>
      rows
        .filter(({ parent }) => parent !== undefined)
        .toSorted((a, b) => byName(a.parent ?? '', b.parent ?? '') || byName(a.n, b.n)),
    [rows],
  )
  const columns = useMemo(() => columnsOf(texts), [texts])
  if (view.error !== undefined) {
    return <FailedPage title={texts.title} error={view.error} onRetry={retry} />
  }
  return (
    <PageFrame title={texts.title} view={view}>
      <p className="muted">{texts.hint}</p>
      {view.phase === 'loading' ? (
        <Loading />
      ) : virtual.length === 0 ? (
        <Empty title={texts.none}>
          <p className="empty-text">{texts.noneHint}</p>
        </Empty>
      ) : (
        <DataTable
          label={texts.title}
          rows={virtual}
          columns={columns}
          keyOf={({ n }) => n}
          isOld={isOutOfSight}
        />
      )}
    </PageFrame>
  )
}

function columnsOf(texts: VirtualTexts): Column<FleetRow>[] {
  return [
    {
      key: 'name',
      title: texts.name,
      width: 'minmax(140px, 2fr)',
      sortBy: ({ n }) => n,
      cell: ({ n }) => <Link href={`/clusters/${encodeURIComponent(n)}`}>{n}</Link>,
    },
    {
      key: 'parent',
      title: texts.parent,
      width: 'minmax(140px, 2fr)',
      sortBy: ({ parent = '' }) => parent,
      cell: ({ parent = '' }) => (
        <Link href={`/clusters/${encodeURIComponent(parent)}/virtual`}>{parent}</Link>
      ),
    },
    {
      key: 'state',
      title: texts.state,
      width: '110px',
      sortBy: ({ s }) => clusterStates.indexOf(s),
      cell: ({ s }) => <StateMark state={s} />,
    },
    {
      key: 'nodes',
      title: texts.nodes,
      width: '90px',
      isNumber: true,
      sortBy: ({ nt = 0 }) => nt,
      cell: ({ nr = 0, nt }) => (nt === undefined ? '–' : `${nr} / ${nt}`),
    },
    {
      key: 'message',
      title: texts.message,
      width: 'minmax(160px, 3fr)',
      isWide: true,
      cell: ({ m = '' }) => <span title={m}>{m}</span>,
    },
  ]
}
