/** The versions of a cluster's programs, and how long their certificates are valid. */
import { useMemo } from 'react'
import { useFleetRow } from '../../data/fleet/fleet-rows.ts'
import { listPath } from '../../data/hub/api-paths.ts'
import { asHubError } from '../../data/hub/hub-error.ts'
import { useNow } from '../../data/hub/use-now.ts'
import { useWatched } from '../../data/streams/console-context.tsx'
import { timeLimits } from '../../limits-table.ts'
import { Failed, Loading } from '../../parts/answer-state.tsx'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { FaultLine } from '../../parts/fault-line.tsx'
import { Freshness } from '../../parts/freshness.tsx'
import { WordMark, type Tone } from '../../parts/state-mark.tsx'
import { useLanguage, useTexts, type Language } from '../../words/language.ts'
import { momentText, spanText } from '../../words/time-texts.ts'
import {
  certificateRows,
  certificateState,
  certificateStates,
  type CertificateRow,
  type CertificateState,
  type NodeObject,
} from './certificate-rows.ts'
import { certificateTexts as both, type CertificateTexts } from './certificate-texts.ts'
import { useClusterObject } from './cluster-object.ts'
import { useTunnelState } from './tunnel-state.ts'

const nodes = { group: '', version: 'v1', resource: 'nodes' }

const tones: Readonly<Record<CertificateState, Tone>> = {
  ended: 'bad',
  late: 'warn',
  soon: 'warn',
  unknown: 'off',
  good: 'ok',
  renews: 'ok',
}

export function ClusterCertificates({ cluster }: { readonly cluster: string }) {
  const texts = useTexts(both)
  const language = useLanguage()
  const nowMs = useNow(timeLimits.askAgainMs)
  const { row } = useFleetRow(cluster)
  const { object, view, retry } = useClusterObject(cluster)
  const tunnels = useTunnelState(cluster)
  const nodeView = useWatched(listPath(cluster, nodes))
  const rows = useMemo(
    () =>
      certificateRows({
        apiVersion: row?.v,
        annotations: object?.metadata.annotations ?? {},
        isVirtual: row?.parent !== undefined,
        agents: tunnels.data?.agents.flatMap(({ agent }) => agent ?? []) ?? [],
        // Nodes of the cluster's API.
        nodes: [...nodeView.items.values()] as NodeObject[],
      }),
    [row?.v, row?.parent, object, tunnels.data, nodeView],
  )
  const columns = useMemo(() => columnsOf({ texts, language, nowMs }), [texts, language, nowMs])
  if (view.error !== undefined) return <Failed error={view.error} onRetry={retry} />
  if (object === undefined || row === undefined) return <Loading />
  return (
    <>
      <div className="bar">
        <span className="muted">{texts.hint}</span>
        <span className="page-space" />
        <Freshness view={nodeView} />
      </div>
      <FaultLine fault={nodeView.error} />
      <FaultLine fault={tunnels.error === null ? undefined : asHubError(tunnels.error)} />
      {nodeView.phase === 'away' && nodeView.items.size === 0 ? (
        <p className="muted">{texts.noNodes}</p>
      ) : undefined}
      <DataTable label={texts.of} rows={rows} columns={columns} keyOf={({ key }) => key} />
    </>
  )
}

interface ColumnsOf {
  readonly texts: CertificateTexts
  readonly language: Language
  readonly nowMs: number
}

function columnsOf({ texts, language, nowMs }: ColumnsOf): Column<CertificateRow>[] {
  const stateOf = (row: CertificateRow): string => {
    const span = spanText(Math.abs((row.endMs ?? nowMs) - nowMs), language)
    return texts.states[certificateState(row, nowMs)](span)
  }
  return [
    {
      key: 'use',
      title: texts.of,
      width: 'minmax(120px, 1fr)',
      sortBy: ({ use }) => texts.uses[use],
      cell: ({ use }) => texts.uses[use],
    },
    {
      key: 'name',
      title: texts.name,
      width: 'minmax(110px, 1fr)',
      sortBy: ({ name }) => name,
      cell: ({ name }) => name || '–',
      hint: ({ name }) => name,
    },
    {
      key: 'version',
      title: texts.version,
      width: 'minmax(90px, 1fr)',
      isWide: true,
      sortBy: ({ version }) => version,
      cell: ({ version }) => version || '–',
      hint: ({ version }) => version,
    },
    {
      key: 'ends',
      title: texts.ends,
      width: '110px',
      isWide: true,
      sortBy: ({ endMs }) => endMs ?? 0,
      cell: ({ endMs }) => <EndDay endMs={endMs} language={language} />,
    },
    {
      key: 'state',
      title: texts.state,
      width: 'minmax(150px, 2fr)',
      sortBy: (row) => certificateStates.indexOf(certificateState(row, nowMs)),
      cell: (row) => <WordMark tone={tones[certificateState(row, nowMs)]}>{stateOf(row)}</WordMark>,
      hint: stateOf,
    },
  ]
}

interface EndDayProps {
  readonly endMs: number | undefined
  readonly language: Language
}

function EndDay({ endMs, language }: EndDayProps) {
  if (endMs === undefined) return '–'
  const time = new Date(endMs).toISOString()
  return (
    <time dateTime={time} title={momentText(endMs, language)}>
      {time.slice(0, 10)}
    </time>
  )
}
