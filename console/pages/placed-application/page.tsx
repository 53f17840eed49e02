/** One application in the places of a cluster: its children, what they differ by, and where traffic goes. */
import { useMemo } from 'react'
import { Link } from 'wouter'
import { usePathWords } from '../../data/browser/use-path-words.ts'
import { useFleetRow } from '../../data/fleet/fleet-rows.ts'
import { isOutOfSight } from '../../data/fleet/fleet.ts'
import { objectPage, type ObjectName } from '../../data/hub/api-paths.ts'
import { useKinds } from '../../data/objects/use-kinds.ts'
import { servedAs } from '../../data/places/node-places.ts'
import {
  placedKinds,
  placedPage,
  placedTotals,
  type PlacedApplication,
} from '../../data/places/placed-application.ts'
import { useWatchedObject } from '../../data/streams/use-watched-object.ts'
import { Empty, Failed, Loading } from '../../parts/answer-state.tsx'
import { FailedPage } from '../../parts/failed-page.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { PhaseMark } from '../../parts/phase-mark.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { partTexts } from '../../parts/texts.ts'
import { useTexts } from '../../words/language.ts'
import { ChildrenTab } from './children-tab.tsx'
import { DifferencesTab } from './differences-tab.tsx'
import { texts as both } from './texts.ts'
import { TrafficTab } from './traffic-tab.tsx'
import type { Placed } from './use-placed-explanation.ts'

const tabKeys = ['children', 'differences', 'traffic'] as const

const bodies = { children: ChildrenTab, differences: DifferencesTab, traffic: TrafficTab }

export function PlacedApplicationPage() {
  const texts = useTexts(both)
  const { cluster = '', resource = '', namespace = '', name = '' } = usePathWords()
  const { kinds, error, retry } = useKinds(cluster)
  const known = placedKinds.find((kind) => kind.resource === resource)
  const served = known === undefined ? undefined : servedAs(kinds, known)
  const object = useMemo(
    () =>
      served === undefined
        ? undefined
        : { group: served.group, version: served.version, resource, namespace, name },
    [served, resource, namespace, name],
  )
  if (object !== undefined && served !== undefined) {
    return <Application cluster={cluster} kind={served.kind} object={object} />
  }
  return (
    <PageFrame title={name} above={<Above cluster={cluster} />}>
      {error !== undefined && kinds === undefined ? (
        <Failed error={error} onRetry={retry} />
      ) : kinds === undefined ? (
        <Loading />
      ) : (
        <Empty title={texts.unknownKind}>
          <code>{resource}</code>
        </Empty>
      )}
    </PageFrame>
  )
}

function Above({ cluster }: { readonly cluster: string }) {
  const texts = useTexts(both)
  const base = `/clusters/${encodeURIComponent(cluster)}`
  return (
    <>
      <Link href={base}>{cluster}</Link>
      <Link href={`${base}/places`}>{texts.places}</Link>
    </>
  )
}

interface ApplicationProps {
  readonly cluster: string
  readonly kind: string
  readonly object: ObjectName
}

function Application({ cluster, kind, object }: ApplicationProps) {
  const texts = useTexts(both)
  const words = useTexts(partTexts)
  const { tab } = usePathWords()
  const { row } = useFleetRow(cluster)
  const { object: app, view, retry } = useWatchedObject<PlacedApplication>(object, cluster)
  const above = (
    <>
      <Above cluster={cluster} />
      <span>{object.namespace}</span>
      <Link href={objectPage(cluster, object)}>{kind}</Link>
    </>
  )
  if (view.error !== undefined) {
    return <FailedPage title={object.name} above={above} error={view.error} onRetry={retry} />
  }
  if (app === undefined) {
    return (
      <PageFrame title={object.name} above={above}>
        {view.phase === 'loading' ? (
          <Loading />
        ) : view.phase === 'away' ? (
          <Empty title={words.awayTitle}>{view.message}</Empty>
        ) : (
          <Empty title={texts.missing(object.name)}>
            <p className="empty-text">{texts.missingHint}</p>
          </Empty>
        )}
      </PageFrame>
    )
  }
  const isOld = row !== undefined && isOutOfSight(row)
  const current = tabKeys.find((key) => key === tab) ?? 'children'
  const Tab = bodies[current]
  const page = placedPage(cluster, object, app.metadata)
  return (
    <PageFrame
      title={object.name}
      above={above}
      view={view}
      mark={<Totals placed={{ cluster, kind, app }} />}
    >
      <Tabs
        label={object.name}
        current={current}
        tabs={tabKeys.map((key) => ({
          key,
          title: texts.tabs[key],
          href: key === 'children' ? page : `${page}/${key}`,
        }))}
      />
      <div className={isOld ? 'page-body is-old' : 'page-body'}>
        <Tab cluster={cluster} kind={kind} app={app} />
      </div>
    </PageFrame>
  )
}

function Totals({ placed: { app } }: { readonly placed: Placed }) {
  const texts = useTexts(both)
  const { ready, total, worst } = placedTotals(app)
  if (worst === undefined) return undefined
  return (
    <span className="totals">
      <PhaseMark phase={worst} />
      <span>{texts.placesReady(ready, total)}</span>
    </span>
  )
}
