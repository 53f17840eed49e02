import { useMemo } from 'react'
import { Link } from 'wouter'
import { listPath, objectPage } from '../../data/hub/api-paths.ts'
import { useUrlValues } from '../../data/browser/use-url-values.ts'
import type { DiscoveredKind } from '../../data/objects/discovered-kinds.ts'
import {
  nodesWithoutPlace,
  placeKinds,
  placeRows,
  servedAs,
  type PlacedNode,
  type PlaceObject,
  type PlaceRow,
} from '../../data/places/node-places.ts'
import { useWatchedLists } from '../../data/streams/use-watched-lists.ts'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { FaultLine } from '../../parts/fault-line.tsx'
import { WordMark } from '../../parts/state-mark.tsx'
import { partTexts } from '../../parts/texts.ts'
import { useTexts } from '../../words/language.ts'
import { WatchedRows } from './watched-rows.tsx'
import { placesTexts as both, type PlacesTexts } from './places-texts.ts'

const nodeKind = { group: '', version: 'v1', resource: 'nodes' }

interface NodePlacesProps {
  readonly cluster: string
  readonly kinds: readonly DiscoveredKind[]
}

/** Units, groups and pools with their nodes, and how many of these are ready. */
export function NodePlaces({ cluster, kinds }: NodePlacesProps) {
  const texts = useTexts(both)
  const words = useTexts(partTexts)
  const [values] = useUrlValues()
  const served = useMemo(
    () =>
      placeKinds.flatMap((kind) => {
        const as = servedAs(kinds, kind)
        return as === undefined ? [] : [{ kind, as }]
      }),
    [kinds],
  )
  const paths = [nodeKind, ...served.map(({ as }) => as)].map((kind) => listPath(cluster, kind))
  const [nodesView, ...views] = useWatchedLists(paths)
  const text = (values.q ?? '').toLowerCase()
  const { rows, others, total } = useMemo(() => {
    // Objects of the API.
    const nodes = [...(nodesView?.items.values() ?? [])] as PlacedNode[]
    const all = served.flatMap(({ kind, as }, at) => {
      const places = [...(views[at]?.items.values() ?? [])] as PlaceObject[]
      return placeRows(kind, as, places, nodes)
    })
    return {
      rows: all.filter((row) => searchedText(row).includes(text)),
      others: nodesWithoutPlace(all, nodes),
      total: all.length,
    }
  }, [served, nodesView, views, text])
  const columns = useMemo(() => placeColumns(texts, cluster), [texts, cluster])
  const shown = others.slice(0, 8).join(', ')
  return (
    <>
      <div className="bar">
        <h2>{texts.places}</h2>
        <span className="page-space" />
        <span className="muted">{words.rows(rows.length, total)}</span>
      </div>
      <FaultLine fault={nodesView?.error} />
      <WatchedRows
        views={views}
        rows={rows}
        title={texts.noPlaces}
        hint={texts.noPlacesHint(served.map(({ as }) => as.kind).join(', '))}
      >
        <DataTable
          label={texts.places}
          rows={rows}
          columns={columns}
          keyOf={({ key }) => key}
          initialSort="name"
          addressName="places"
          isOld={({ isLeaving }) => isLeaving || views.some(({ phase }) => phase !== 'live')}
        />
        {others.length === 0 ? undefined : (
          <p className="muted">
            {texts.others(others.length, others.length > 8 ? `${shown}, …` : shown)}
          </p>
        )}
      </WatchedRows>
    </>
  )
}

function searchedText({ key, nodes, problems, missing }: PlaceRow): string {
  return [key, ...nodes.map(({ name }) => name), ...problems, ...missing].join(' ').toLowerCase()
}

function placeColumns(texts: PlacesTexts, cluster: string): Column<PlaceRow>[] {
  return [
    {
      key: 'name',
      title: texts.name,
      width: 'minmax(120px, 1.5fr)',
      sortBy: ({ object }) => object.name,
      hint: ({ object }) => object.name,
      cell: ({ object }) => <Link href={objectPage(cluster, object)}>{object.name}</Link>,
    },
    {
      key: 'kind',
      title: texts.kind,
      width: 'minmax(165px, 1fr)',
      isWide: true,
      sortBy: ({ system, kind }) => `${kind} ${system}`,
      cell: ({ system, kind }) => `${kind} (${system})`,
    },
    {
      key: 'ready',
      title: texts.ready,
      width: '90px',
      sortBy: ({ ready, nodes }) => (nodes.length === 0 ? -1 : ready / nodes.length),
      cell: ({ ready, nodes }) => (
        <WordMark tone={nodes.length === 0 ? 'off' : ready < nodes.length ? 'away' : 'ok'}>
          {`${ready} / ${nodes.length}`}
        </WordMark>
      ),
    },
    {
      key: 'nodes',
      title: texts.nodes,
      width: 'minmax(140px, 3fr)',
      hint: ({ nodes }) => nodes.map(({ name }) => name).join('\n'),
      cell: ({ nodes }) =>
        nodes.length === 0 ? (
          <span className="muted">{texts.noNodes}</span>
        ) : (
          nodes.map(({ name, isReady }) => (
            <span key={name} className={isReady ? undefined : 'toned tone-away'}>
              {isReady ? '' : '◌ '}
              {name}{' '}
            </span>
          ))
        ),
    },
    {
      key: 'state',
      title: texts.state,
      width: 'minmax(140px, 3fr)',
      sortBy: (row) => problemText(row, texts) || factText(row, texts),
      hint: (row) => [problemText(row, texts), factText(row, texts)].filter(Boolean).join('; '),
      cell: (row) => {
        const problem = problemText(row, texts)
        if (problem !== '') return <WordMark tone="warn">{problem}</WordMark>
        return factText(row, texts)
      },
    },
  ]
}

function factText({ ownServers, units }: PlaceRow, texts: PlacesTexts): string {
  if (ownServers.length > 0) return texts.ownCluster(ownServers.join(', '))
  return units.length === 0 ? '' : texts.units(units.length)
}

function problemText({ isLeaving, missing, problems }: PlaceRow, texts: PlacesTexts): string {
  return [
    ...(isLeaving ? [texts.leaving] : []),
    ...problems,
    ...(missing.length === 0 ? [] : [texts.missing(missing.join(', '))]),
  ].join('; ')
}
