import { Link } from 'wouter'
import { useFleetRow } from '../../data/fleet/fleet-rows.ts'
import { isOutOfSight, type FleetRow } from '../../data/fleet/fleet.ts'
import { Age } from '../../parts/age.tsx'
import { Failed, Loading } from '../../parts/answer-state.tsx'
import { Facts, type Fact } from '../../parts/facts.tsx'
import { Icon } from '../../parts/icon.tsx'
import { LabelChips } from '../../parts/label-chips.tsx'
import { ShareBar } from '../../parts/share-bar.tsx'
import { WordMark } from '../../parts/state-mark.tsx'
import { useTexts } from '../../words/language.ts'
import { isTrouble, useClusterObject } from './cluster-object.ts'
import { texts as both, type ClusterTexts } from './texts.ts'

export function Overview({ cluster }: { readonly cluster: string }) {
  const texts = useTexts(both)
  const { row } = useFleetRow(cluster)
  if (row === undefined) return <Loading />
  return (
    <div className="columns">
      <section className="panel">
        <h2>{texts.health}</h2>
        <Facts facts={factsOf(row, texts)} />
        <p>
          <Link
            href={`/access/kubeconfig?cluster=${encodeURIComponent(cluster)}`}
            className="button"
          >
            <Icon name="download" />
            {texts.kubeconfig}
          </Link>
        </p>
      </section>
      <Conditions cluster={cluster} isOld={isOutOfSight(row)} />
    </div>
  )
}

function factsOf(row: FleetRow, texts: ClusterTexts): Fact[] {
  const place = [row.r, row.z].filter(Boolean).join(' / ')
  const facts: (Fact | undefined)[] = [
    row.m === undefined ? undefined : { name: texts.message, value: row.m },
    { name: texts.version, value: row.v ?? '–' },
    { name: texts.nodes, value: row.nt === undefined ? '–' : `${row.nr ?? 0} / ${row.nt}` },
    { name: texts.pods, value: row.pc ?? '–' },
    { name: texts.cpu, value: <ShareBar share={row.cpu} /> },
    { name: texts.memory, value: <ShareBar share={row.mem} /> },
    {
      name: texts.lastHeard,
      value: <LastHeard row={row} />,
    },
    row.kind === undefined ? undefined : { name: texts.kind, value: texts.kinds[row.kind] },
    row.parent === undefined
      ? undefined
      : {
          name: texts.parent,
          value: <Link href={`/clusters/${encodeURIComponent(row.parent)}`}>{row.parent}</Link>,
        },
    { name: texts.place, value: place || '–' },
    row.p === undefined ? undefined : { name: texts.provider, value: row.p },
    row.l === undefined ? undefined : { name: texts.labels, value: <LabelChips labels={row.l} /> },
  ]
  return facts.filter((fact) => fact !== undefined)
}

/** A row of a cluster that can be heard has no time of it, because it would change all the time. */
function LastHeard({ row: { seen, tun, kind } }: { readonly row: FleetRow }) {
  const texts = useTexts(both)
  if (tun !== undefined) return texts.hearsNow
  if (seen === undefined && kind === 'push') return '–'
  return <Age atMs={seen === undefined ? undefined : seen * 1_000} />
}

interface ConditionsProps {
  readonly cluster: string
  /** Nobody hears the cluster: its own conditions are from before. */
  readonly isOld: boolean
}

function Conditions({ cluster, isOld }: ConditionsProps) {
  const texts = useTexts(both)
  const { object, view, retry } = useClusterObject(cluster)
  if (view.error !== undefined) return <Failed error={view.error} onRetry={retry} />
  if (object === undefined) return view.phase === 'loading' ? <Loading /> : undefined
  const { taints = [] } = object.spec
  const { conditions = [], resourceSummary } = object.status ?? {}
  const resources = Object.entries(resourceSummary?.allocatable ?? {})
  return (
    <>
      <section className="panel">
        <h2>{texts.conditions}</h2>
        <ul className="conditions">
          {conditions.map((condition) => (
            <li key={condition.type}>
              <WordMark tone={isTrouble(condition) ? 'warn' : isOld ? 'off' : 'ok'}>
                {condition.type}
              </WordMark>
              <span className="muted">
                <Age atMs={Date.parse(condition.lastTransitionTime)} isBare />
              </span>
              <p>
                {condition.reason} <span className="muted">{condition.message}</span>
              </p>
            </li>
          ))}
        </ul>
      </section>
      <section className="panel">
        <h2>{texts.taints}</h2>
        {taints.length === 0 ? <p className="muted">{texts.noTaints}</p> : undefined}
        <ul className="plain">
          {taints.map(({ key, value = '', effect }) => (
            <li key={`${key} ${effect}`} className="mono">
              {key}
              {value === '' ? '' : `=${value}`}:{effect}
            </li>
          ))}
        </ul>
      </section>
      {resources.length === 0 ? undefined : (
        <section className="panel">
          <h2>{texts.resources}</h2>
          <Facts
            facts={resources.map(([name, total]) => ({
              name,
              value: `${resourceSummary?.allocated?.[name] ?? '0'} / ${total}`,
            }))}
          />
        </section>
      )}
    </>
  )
}
