/** One cluster: how it is, and what is in it, through its tunnel. */
import { Link } from 'wouter'
import { usePathWords } from '../../data/browser/use-path-words.ts'
import { useFleetRow } from '../../data/fleet/fleet-rows.ts'
import { isOutOfSight } from '../../data/fleet/fleet.ts'
import { Age } from '../../parts/age.tsx'
import { FailedPage } from '../../parts/failed-page.tsx'
import { NoCluster } from '../../parts/no-cluster.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { useTexts } from '../../words/language.ts'
import { Overview } from './overview.tsx'
import { ClusterCertificates } from './certificates-tab.tsx'
import { ClusterPlaces } from './places-tab.tsx'
import { ClusterEvents, ClusterNodes, ClusterObjects, ClusterWorkloads } from './resources.tsx'
import { texts as both } from './texts.ts'
import { Tunnel } from './tunnel.tsx'
import { ClusterVirtual } from './virtual-tab.tsx'
import { ClusterYaml } from './yaml.tsx'

const tabKeys = [
  'overview',
  'nodes',
  'workloads',
  'events',
  'objects',
  'places',
  'virtual',
  'tunnel',
  'certificates',
  'yaml',
] as const

type TabKey = (typeof tabKeys)[number]

const bodies: Readonly<Record<TabKey, (props: { readonly cluster: string }) => React.ReactNode>> = {
  overview: Overview,
  nodes: ClusterNodes,
  workloads: ClusterWorkloads,
  events: ClusterEvents,
  objects: ClusterObjects,
  places: ClusterPlaces,
  virtual: ClusterVirtual,
  tunnel: Tunnel,
  certificates: ClusterCertificates,
  yaml: ClusterYaml,
}

export function ClusterPage() {
  const texts = useTexts(both)
  const params = usePathWords()
  const cluster = params.cluster ?? ''
  const tab = tabKeys.find((key) => key === params.tab) ?? 'overview'
  const { row, view, retry } = useFleetRow(cluster)
  const above = <Link href="/clusters">{texts.clusters}</Link>
  if (view.error !== undefined) {
    return <FailedPage title={cluster} above={above} error={view.error} onRetry={retry} />
  }
  if (row === undefined && view.phase !== 'loading') {
    return (
      <PageFrame title={cluster} above={above}>
        <NoCluster name={cluster} />
      </PageFrame>
    )
  }
  const Body = bodies[tab]
  // Everything else does not wait for the fleet.
  const isOld = row !== undefined && isOutOfSight(row)
  const base = `/clusters/${encodeURIComponent(cluster)}`
  return (
    <PageFrame
      title={cluster}
      above={above}
      {...(isOld ? {} : { view })}
      mark={
        row === undefined ? undefined : (
          <StateMark state={row.s}>
            {row.t === undefined ? undefined : <Age atMs={row.t * 1_000} isBare />}
          </StateMark>
        )
      }
    >
      <Tabs
        label={cluster}
        current={tab}
        tabs={tabKeys.map((key) => ({
          key,
          title: texts.tabs[key],
          href: key === 'overview' ? base : `${base}/${key}`,
        }))}
      />
      {isOld && tab !== 'tunnel' && tab !== 'yaml' ? (
        <p className="banner tone-away">
          ◌ {row?.m === undefined ? '' : `${row.m}. `}
          {texts.asLastSeen}
        </p>
      ) : undefined}
      <div className={isOld ? 'page-body is-old' : 'page-body'}>
        <Body cluster={cluster} />
      </div>
    </PageFrame>
  )
}
