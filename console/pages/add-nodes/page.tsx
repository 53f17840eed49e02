/** How a cluster gets more nodes: by a line to copy, and many at once over SSH. */
import { Link } from 'wouter'
import { usePathWords } from '../../data/browser/use-path-words.ts'
import { edgeClusters } from '../../data/edge/edge-cluster.ts'
import { useFleetRow } from '../../data/fleet/fleet-rows.ts'
import { Allowed } from '../../parts/allowed.tsx'
import { Loading } from '../../parts/answer-state.tsx'
import { FailedPage } from '../../parts/failed-page.tsx'
import { NoCluster } from '../../parts/no-cluster.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { useTexts } from '../../words/language.ts'
import { BatchPanel } from './batch-panel.tsx'
import { JoinedList } from './joined-list.tsx'
import { LinePanel } from './line-panel.tsx'
import { texts as both } from './texts.ts'

/** A line is a token of the site. */
const makeToken = {
  verb: 'create',
  object: { group: '', version: 'v1', resource: 'secrets', namespace: 'kube-system', name: '' },
}

export function AddNodesPage() {
  const texts = useTexts(both)
  const { cluster = '' } = usePathWords()
  const { row, view, retry } = useFleetRow(cluster)
  const above = (
    <>
      <Link href="/clusters">{texts.clusters}</Link>
      <Link href={`/clusters/${encodeURIComponent(cluster)}/nodes`}>{cluster}</Link>
    </>
  )
  if (view.error !== undefined) {
    return <FailedPage title={texts.title} above={above} error={view.error} onRetry={retry} />
  }
  if (row === undefined) {
    return (
      <PageFrame title={texts.title} above={above}>
        {view.phase === 'loading' ? <Loading /> : <NoCluster name={cluster} />}
      </PageFrame>
    )
  }
  const [namespace = '', name = ''] = row.e?.split('/') ?? []
  return (
    <PageFrame title={texts.title} above={above} mark={<StateMark state={row.s} />}>
      <Allowed cluster={cluster} action={makeToken} isExplained isLenient>
        <LinePanel cluster={cluster} />
      </Allowed>
      <JoinedList cluster={cluster} />
      <section className="panel">
        <h2>{texts.batch}</h2>
        {name === '' ? (
          <p className="muted">{texts.notMade}</p>
        ) : (
          <Allowed
            action={{ verb: 'patch', object: { ...edgeClusters, namespace, name } }}
            isExplained
          >
            <BatchPanel namespace={namespace} name={name} />
          </Allowed>
        )}
      </section>
    </PageFrame>
  )
}
