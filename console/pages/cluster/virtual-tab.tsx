/** The virtual clusters of an edge cluster: their sources, their nodes, and their problems. */
import { useMemo } from 'react'
import { Link } from 'wouter'
import { listPath } from '../../data/hub/api-paths.ts'
import { useRetry, useWatched } from '../../data/streams/console-context.tsx'
import { useUrlValues } from '../../data/browser/use-url-values.ts'
import { Empty, Failed, Loading } from '../../parts/answer-state.tsx'
import { WordMark } from '../../parts/state-mark.tsx'
import { partTexts } from '../../parts/texts.ts'
import { TextField } from '../../parts/text-field.tsx'
import { useTexts } from '../../words/language.ts'
import {
  groupPreview,
  labelOf,
  sourceText,
  troublesOf,
  type NodeObject,
  type VirtualCluster,
  type VirtualClusterSet,
} from './virtual-groups.ts'
import { virtualTexts as both } from './virtual-texts.ts'

const kinds = { group: 'edge.skerry.io', version: 'v1alpha1' }

export function ClusterVirtual({ cluster }: { readonly cluster: string }) {
  const texts = useTexts(both)
  const words = useTexts(partTexts)
  const path = listPath(cluster, { ...kinds, resource: 'virtualclusters' })
  const view = useWatched(path)
  const retry = useRetry(path)
  const setsPath = listPath(cluster, { ...kinds, resource: 'virtualclustersets' })
  const setsView = useWatched(view.error === undefined ? setsPath : undefined)
  if (view.error?.isMissing === true) {
    return (
      <>
        <Empty title={texts.noKind}>
          <p className="empty-text">{texts.noKindHint}</p>
        </Empty>
        <TryPanel cluster={cluster} />
      </>
    )
  }
  if (view.error !== undefined) return <Failed error={view.error} onRetry={retry} />
  if (view.phase === 'loading') return <Loading />
  if (view.phase === 'away' && view.items.size === 0) {
    return <Empty title={words.awayTitle}>{view.message}</Empty>
  }
  // Objects of the cluster's own kinds.
  const virtual = [...view.items.values()] as VirtualCluster[]
  const sets = [...setsView.items.values()] as VirtualClusterSet[]
  return (
    <>
      {virtual.length === 0 && sets.length === 0 ? (
        <Empty title={texts.none}>
          <p className="empty-text">{texts.noneHint}</p>
        </Empty>
      ) : undefined}
      <div className="columns">
        {sets.map((set) => (
          <SourcePanel key={set.metadata.name} cluster={cluster} set={set} />
        ))}
        {virtual.map((each) => (
          <VirtualPanel key={each.metadata.name} virtual={each} />
        ))}
        <TryPanel cluster={cluster} />
      </div>
    </>
  )
}

function VirtualPanel({ virtual }: { readonly virtual: VirtualCluster }) {
  const texts = useTexts(both)
  const { name } = virtual.metadata
  const { clusterName, nodes } = virtual.status ?? {}
  const troubles = troublesOf(virtual)
  return (
    <section className="panel" aria-label={name}>
      <h2 className="wave-head">
        {clusterName === undefined ? (
          name
        ) : (
          <Link href={`/clusters/${encodeURIComponent(clusterName)}`}>{clusterName}</Link>
        )}
        <WordMark tone={troubles.length === 0 ? 'ok' : 'warn'}>
          {troubles.length === 0 ? texts.well : texts.troubles(troubles.length)}
        </WordMark>
      </h2>
      <p className="muted">{texts.nodes(nodes?.ready ?? 0, nodes?.total ?? 0)}</p>
      <Troubles texts={troubles} />
    </section>
  )
}

function Troubles({ texts }: { readonly texts: readonly string[] }) {
  return (
    <ul className="plain findings">
      {texts.map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  )
}

interface SourceProps {
  readonly cluster: string
  readonly set: VirtualClusterSet
}

function SourcePanel({ cluster, set }: SourceProps) {
  const texts = useTexts(both)
  const { source } = set.spec
  const label = labelOf(source)
  const { virtualClusters = 0, problems = [] } = set.status ?? {}
  return (
    <section className="panel" aria-label={set.metadata.name}>
      <h2>{texts.source(set.metadata.name)}</h2>
      <p className="muted">
        <code>{sourceText(source)}</code> {texts.makes(virtualClusters)}
      </p>
      <Troubles texts={problems} />
      {label === undefined ? undefined : <Preview cluster={cluster} label={label} />}
    </section>
  )
}

/** Shows which groups a label would make before anybody writes a set for it. */
function TryPanel({ cluster }: { readonly cluster: string }) {
  const texts = useTexts(both)
  const [values, setValues] = useUrlValues()
  const label = values.label ?? ''
  return (
    <section className="panel">
      <h2>{texts.tryTitle}</h2>
      <TextField
        label={texts.label}
        value={label}
        placeholder="example.com/branch"
        hint={texts.tryHint}
        onChange={(next) => setValues({ label: next.trim() })}
      />
      {label === '' ? undefined : <Preview cluster={cluster} label={label} />}
    </section>
  )
}

interface PreviewProps {
  readonly cluster: string
  readonly label: string
}

function Preview({ cluster, label }: PreviewProps) {
  const texts = useTexts(both)
  const view = useWatched(listPath(cluster, { group: '', version: 'v1', resource: 'nodes' }))
  const { groups, others } = useMemo(
    // Nodes of the API.
    () => groupPreview(label, [...view.items.values()] as NodeObject[]),
    [label, view],
  )
  if (view.error !== undefined) return <p className="fault">{view.error.message}</p>
  if (view.phase === 'loading') return <Loading />
  return (
    <ul className="plain">
      {groups.map(({ name, nodes }) => (
        <li key={name}>
          <strong>{name}</strong> <span className="muted">{nodes.join(', ')}</span>
        </li>
      ))}
      {groups.length === 0 ? <li className="muted">{texts.noGroups}</li> : undefined}
      {others.length === 0 ? undefined : (
        <li className="muted">{texts.others(others.length, others.slice(0, 8).join(', '))}</li>
      )}
    </ul>
  )
}
