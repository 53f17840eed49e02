import { Link } from 'wouter'
import { ownDifferences, phases, type ChildRow } from '../../data/places/placed-application.ts'
import type { Column } from '../../parts/data-table.tsx'
import { PhaseMark } from '../../parts/phase-mark.tsx'
import type { PlacedTexts } from './texts.ts'

interface Links {
  readonly pageOf: (row: ChildRow) => string | undefined
  readonly differences: string | undefined
}

export function childColumns(texts: PlacedTexts, links: Links): Column<ChildRow>[] {
  return [...stateColumns(texts), ...objectColumns(texts, links)]
}

function stateColumns(texts: PlacedTexts): Column<ChildRow>[] {
  return [
    {
      key: 'place',
      title: texts.place,
      width: 'minmax(90px, 1fr)',
      sortBy: ({ group }) => group,
      hint: ({ group }) => group,
      cell: ({ group }) => (group === '' ? <span className="muted">{texts.once}</span> : group),
    },
    {
      key: 'state',
      title: texts.state,
      width: '120px',
      sortBy: ({ phase }) => (phase === undefined ? -1 : phases.indexOf(phase)),
      cell: ({ phase }) => (phase === undefined ? '–' : <PhaseMark phase={phase} />),
    },
    {
      key: 'replicas',
      title: texts.replicas,
      width: '64px',
      isNumber: true,
      sortBy: ({ explained }) => explained?.readyReplicas ?? -1,
      cell: ({ explained }) =>
        explained?.replicas === undefined
          ? '–'
          : `${explained.readyReplicas ?? 0} / ${explained.replicas}`,
    },
    {
      key: 'nodes',
      title: texts.nodes,
      width: '96px',
      isNumber: true,
      isWide: true,
      sortBy: ({ readyNodes = -1 }) => readyNodes,
      cell: ({ nodes, readyNodes = 0 }) => (nodes === undefined ? '–' : `${readyNodes} / ${nodes}`),
    },
  ]
}

function objectColumns(texts: PlacedTexts, { pageOf, differences }: Links): Column<ChildRow>[] {
  return [
    {
      key: 'child',
      title: texts.child,
      width: 'minmax(140px, 2fr)',
      sortBy: ({ key }) => key,
      hint: ({ key }) => key,
      cell: (row) => {
        const page = pageOf(row)
        return page === undefined ? row.key : <Link href={page}>{row.key}</Link>
      },
    },
    {
      key: 'differences',
      title: texts.differences,
      width: '90px',
      isWide: true,
      sortBy: ({ explained }) => ownDifferences(explained),
      cell: ({ explained, group }) => {
        const count = ownDifferences(explained)
        if (count <= 0 || differences === undefined) return explained === undefined ? '–' : ''
        const query = new URLSearchParams(group === '' ? {} : { place: group })
        return <Link href={`${differences}?${query.toString()}`}>{texts.fields(count)}</Link>
      },
    },
    {
      key: 'why',
      title: texts.why,
      width: 'minmax(120px, 2fr)',
      isWide: true,
      hint: ({ why }) => why,
      cell: ({ why }) => why,
    },
  ]
}
