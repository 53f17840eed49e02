/** One object of any kind, in a cluster or at the hub itself. */
import { lazy, Suspense, useMemo } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { usePathWords } from '../../data/browser/use-path-words.ts'
import {
  objectPage,
  objectPath,
  readObjectPage,
  type ObjectName,
} from '../../data/hub/api-paths.ts'
import { useWatched } from '../../data/streams/console-context.tsx'
import { applicationPage, bindingName } from '../../data/fleet/explanation.ts'
import { asHubError } from '../../data/hub/hub-error.ts'
import { askJson } from '../../data/hub/hub-request.ts'
import {
  containerNames,
  hasLogs,
  isPod,
  logSources,
  podsPath,
  type PodOwner,
} from '../../data/pods/pod-containers.ts'
import { claimant } from '../../data/fleet/policy-names.ts'
import { useMay } from '../../data/hub/rights.ts'
import { useUrlValues } from '../../data/browser/use-url-values.ts'
import { viewLimits } from '../../limits-table.ts'
import { Empty, Failed, Loading } from '../../parts/answer-state.tsx'
import { ChoiceField } from '../../parts/choice-field.tsx'
import { ObjectYaml } from '../../parts/object-yaml.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { useTexts } from '../../words/language.ts'
import { CommandsView } from './commands-view.tsx'
import { LogView } from './log-view.tsx'
import { texts as both } from './texts.ts'

const ShellView = lazy(async () => ({ default: (await import('./shell-view.tsx')).ShellView }))

type TabKey = 'yaml' | 'logs' | 'shell' | 'commands'

export function ObjectPage() {
  const texts = useTexts(both)
  const params = usePathWords()
  const { cluster, object } = readObjectPage(params)
  const mayOpen = useMay(cluster, { verb: 'create', object, subresource: 'exec' })
  const tabs = tabsOf(object).filter((key) => key !== 'shell' || mayOpen === true)
  const tab = tabs.find((key) => key === params.tab) ?? 'yaml'
  const page = objectPage(cluster, object)
  return (
    <PageFrame
      title={object.name}
      above={<Above cluster={cluster} object={object} />}
      actions={cluster === undefined ? <FleetLink object={object} /> : undefined}
    >
      <Tabs
        label={object.name}
        current={tab}
        tabs={tabs.map((key) => ({
          key,
          title: texts.tabs[key],
          href: key === 'yaml' ? page : `${page}/${key}`,
        }))}
      />
      {tab === 'yaml' ? <ObjectYaml cluster={cluster} object={object} /> : undefined}
      {tab === 'commands' ? <CommandsView cluster={cluster} object={object} /> : undefined}
      {tab === 'logs' || tab === 'shell' ? (
        <Containers cluster={cluster} object={object} tab={tab} />
      ) : undefined}
    </PageFrame>
  )
}

/** An object, as far as it says which policy has claimed it. */
interface ClaimedObject {
  readonly kind?: string
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> }
}

/** Leads from an object of the hub to its places in the fleet, if a policy has claimed it. */
function FleetLink({ object }: { readonly object: ObjectName }) {
  const texts = useTexts(both)
  const path = objectPath(undefined, object)
  const { data } = useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => askJson<ClaimedObject>(path, { signal }),
  })
  const isBinding = object.group === 'work.karmada.io'
  if (data?.kind === undefined || isBinding || claimant(data) === undefined) return undefined
  const { namespace, name } = object
  const binding = bindingName(data.kind, name)
  const page = applicationPage({ ...(namespace === undefined ? {} : { namespace }), name: binding })
  return (
    <Link href={page} className="button">
      {texts.inFleet}
    </Link>
  )
}

function tabsOf(object: ObjectName): TabKey[] {
  if (isPod(object)) return ['yaml', 'logs', 'shell', 'commands']
  return hasLogs(object) ? ['yaml', 'logs', 'commands'] : ['yaml', 'commands']
}

function Above({ cluster, object }: OfObject) {
  const texts = useTexts(both)
  return (
    <>
      {cluster === undefined ? (
        <span>{texts.hub}</span>
      ) : (
        <Link href={`/clusters/${encodeURIComponent(cluster)}/workloads`}>{cluster}</Link>
      )}
      {object.namespace === undefined ? undefined : <span>{object.namespace}</span>}
      <span>{object.resource}</span>
    </>
  )
}

interface OfObject {
  readonly cluster: string | undefined
  readonly object: ObjectName
}

interface ContainersProps extends OfObject {
  readonly tab: 'logs' | 'shell'
}

/** Finds the containers, and shows their logs or a shell in one of them. */
function Containers({ cluster, object, tab }: ContainersProps) {
  const path = objectPath(cluster, object)
  const { data, error, refetch } = useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => askJson<PodOwner>(path, { signal }),
  })
  if (error !== null) return <Failed error={asHubError(error)} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading />
  if (tab === 'shell') return <Shell podPath={path} containers={containerNames(data)} />
  if (isPod(object)) return <Logs cluster={cluster} pods={[data]} />
  return <LogsOfPods cluster={cluster} path={podsPath(cluster, object, data)} />
}

interface LogsOfPodsProps {
  readonly cluster: string | undefined
  /** Undefined if the object chooses no pods. */
  readonly path: string | undefined
}

function LogsOfPods({ cluster, path }: LogsOfPodsProps) {
  const texts = useTexts(both)
  const view = useWatched(path)
  // Pods of the API.
  const pods = useMemo(() => [...view.items.values()] as PodOwner[], [view])
  if (view.error !== undefined) return <Failed error={view.error} />
  if (path !== undefined && view.phase === 'loading') return <Loading />
  if (pods.length === 0) return <Empty title={texts.noPods} />
  return <Logs cluster={cluster} pods={pods} />
}

interface LogsProps {
  readonly cluster: string | undefined
  readonly pods: readonly PodOwner[]
}

function Logs({ cluster, pods }: LogsProps) {
  const texts = useTexts(both)
  const [values, setValues] = useUrlValues()
  const names = [...new Set(pods.flatMap(containerNames))]
  const container = names.find((name) => name === values.container) ?? ''
  const sources = logSources(cluster, pods, container)
  return (
    <>
      {names.length < 2 ? undefined : (
        <ChoiceField
          label={texts.container}
          value={container}
          choices={[['', texts.allContainers], ...names.map((name) => [name, name] as const)]}
          onChange={(next) => setValues({ container: next })}
        />
      )}
      {sources.length > viewLimits.logPodsMax ? (
        <p className="muted">{texts.morePods(viewLimits.logPodsMax, sources.length)}</p>
      ) : undefined}
      <LogView key={container} sources={sources} />
    </>
  )
}

interface ShellProps {
  readonly podPath: string
  readonly containers: readonly string[]
}

function Shell({ podPath, containers }: ShellProps) {
  const texts = useTexts(both)
  const [values, setValues] = useUrlValues()
  const [first = ''] = containers
  const container = containers.find((name) => name === values.container) ?? first
  return (
    <>
      {containers.length < 2 ? undefined : (
        <ChoiceField
          label={texts.container}
          value={container}
          choices={containers.map((name) => [name, name] as const)}
          onChange={(next) => setValues({ container: next === first ? '' : next })}
        />
      )}
      <Suspense fallback={<Loading />}>
        <ShellView key={container} podPath={podPath} container={container} />
      </Suspense>
    </>
  )
}
