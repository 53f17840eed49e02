/** One application of the fleet: an object of the hub, and how it is in each cluster. */
import { useMemo } from 'react'
import { Link } from 'wouter'
import { usePathWords } from '../../data/browser/use-path-words.ts'
import { applicationPage, bindingOf, type BoundObject } from '../../data/fleet/explanation.ts'
import { useNamed } from '../../data/objects/use-kinds.ts'
import { useWatchedObject } from '../../data/streams/use-watched-object.ts'
import { Empty, Loading } from '../../parts/answer-state.tsx'
import { FailedPage } from '../../parts/failed-page.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { StandingMark } from '../../parts/standing-mark.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { useTexts } from '../../words/language.ts'
import { applicationRows, applicationTotals, type Binding } from './application-rows.ts'
import { ClustersTab } from './clusters-tab.tsx'
import { DifferenceTab } from './difference-tab.tsx'
import { PolicyTab } from './policy-tab.tsx'
import { texts as both } from './texts.ts'
import { useExplanation } from './use-explanation.ts'
import { WavesTab } from './waves-tab.tsx'
import { WorksTab } from './works-tab.tsx'

const tabKeys = ['clusters', 'waves', 'difference', 'policy', 'works'] as const

export function ApplicationPage() {
  const texts = useTexts(both)
  const params = usePathWords()
  const name = bindingOf(params.namespace ?? '-', params.name ?? '')
  const { object, view, retry } = useWatchedObject<Binding>(name)
  const above = <Link href="/applications">{texts.applications}</Link>
  if (view.error !== undefined) {
    return <FailedPage title={name.name} above={above} error={view.error} onRetry={retry} />
  }
  if (object === undefined) {
    return (
      <PageFrame title={name.name} above={above}>
        {view.phase === 'loading' ? (
          <Loading />
        ) : (
          <Empty title={texts.noBinding(name.name)}>
            <p>{texts.noBindingHint}</p>
          </Empty>
        )}
      </PageFrame>
    )
  }
  return (
    <PageFrame
      title={object.spec.resource.name}
      above={
        <>
          {above}
          {name.namespace === undefined ? undefined : <span>{name.namespace}</span>}
          <TemplateLink bound={object.spec.resource} />
        </>
      }
      view={view}
      mark={<Totals binding={object} />}
    >
      <Body binding={object} tab={params.tab} />
    </PageFrame>
  )
}

/** A name that leads to the object on the hub, as soon as discovery knows its kind. */
function TemplateLink({ bound }: { readonly bound: BoundObject }) {
  const named = useNamed(bound)
  return named === undefined ? (
    <span>{bound.kind}</span>
  ) : (
    <Link href={named.page}>{bound.kind}</Link>
  )
}

function Totals({ binding }: { readonly binding: Binding }) {
  const texts = useTexts(both)
  const { data } = useExplanation(binding.spec.resource)
  const totals = useMemo(() => applicationTotals(applicationRows(binding, data)), [binding, data])
  return (
    <span className="totals">
      {totals.desired === 0 ? undefined : (
        <span>{texts.replicas(totals.ready, totals.desired)}</span>
      )}
      {totals.standings.map(([standing, count]) => (
        <StandingMark key={standing} standing={standing} count={count} />
      ))}
    </span>
  )
}

const bodies = {
  clusters: ClustersTab,
  waves: WavesTab,
  difference: DifferenceTab,
  policy: PolicyTab,
  works: WorksTab,
}

function Body({ binding, tab }: { readonly binding: Binding; readonly tab: string | undefined }) {
  const texts = useTexts(both)
  const current = tabKeys.find((key) => key === tab) ?? 'clusters'
  const page = applicationPage(binding.metadata)
  const Tab = bodies[current]
  return (
    <>
      <Tabs
        label={binding.spec.resource.name}
        current={current}
        tabs={tabKeys.map((key) => ({
          key,
          title: texts.tabs[key],
          href: key === 'clusters' ? page : `${page}/${key}`,
        }))}
      />
      <div className="page-body">
        <Tab binding={binding} />
      </div>
    </>
  )
}
