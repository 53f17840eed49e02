import { Link } from 'wouter'
import { useUrlValues } from '../../data/browser/use-url-values.ts'
import { ChoiceField } from '../../parts/choice-field.tsx'
import { EventList } from '../../parts/event-list.tsx'
import { Icon } from '../../parts/icon.tsx'
import { KindBrowser } from '../../parts/kind-browser.tsx'
import { ResourceTable } from '../../parts/resource-table.tsx'
import { useTexts } from '../../words/language.ts'
import { texts as both } from './texts.ts'

const nodes = { group: '', version: 'v1', resource: 'nodes' }

const workloads = {
  pods: { group: '', version: 'v1', resource: 'pods' },
  deployments: { group: 'apps', version: 'v1', resource: 'deployments' },
  statefulsets: { group: 'apps', version: 'v1', resource: 'statefulsets' },
  daemonsets: { group: 'apps', version: 'v1', resource: 'daemonsets' },
  jobs: { group: 'batch', version: 'v1', resource: 'jobs' },
  cronjobs: { group: 'batch', version: 'v1', resource: 'cronjobs' },
  services: { group: '', version: 'v1', resource: 'services' },
  configmaps: { group: '', version: 'v1', resource: 'configmaps' },
  persistentvolumeclaims: { group: '', version: 'v1', resource: 'persistentvolumeclaims' },
  ingresses: { group: 'networking.k8s.io', version: 'v1', resource: 'ingresses' },
} as const

type WorkloadKey = keyof typeof workloads

interface OfCluster {
  readonly cluster: string
}

export function ClusterNodes({ cluster }: OfCluster) {
  const texts = useTexts(both)
  return (
    <ResourceTable
      cluster={cluster}
      resource={nodes}
      isNamespaced={false}
      emptyHint={
        <Link href={`/clusters/${encodeURIComponent(cluster)}/add-nodes`}>{texts.addNodes}</Link>
      }
      choices={
        <Link href={`/clusters/${encodeURIComponent(cluster)}/add-nodes`} className="button">
          <Icon name="add" />
          {texts.addNodes}
        </Link>
      }
    />
  )
}

export function ClusterEvents({ cluster }: OfCluster) {
  return <EventList cluster={cluster} />
}

export function ClusterObjects({ cluster }: OfCluster) {
  return <KindBrowser cluster={cluster} first="pods" />
}

export function ClusterWorkloads({ cluster }: OfCluster) {
  const texts = useTexts(both)
  const [values, setValues] = useUrlValues()
  const kind = readKind(values.kind)
  return (
    <ResourceTable
      cluster={cluster}
      resource={workloads[kind]}
      isNamespaced
      choices={
        <ChoiceField
          label={texts.kind}
          value={kind}
          choices={kinds.map((key) => [key, key] as const)}
          onChange={(next) => setValues({ kind: next === 'pods' ? '' : next })}
        />
      }
    />
  )
}

const kinds: readonly WorkloadKey[] = [
  'pods',
  'deployments',
  'statefulsets',
  'daemonsets',
  'jobs',
  'cronjobs',
  'services',
  'configmaps',
  'persistentvolumeclaims',
  'ingresses',
]

function readKind(text: string | undefined): WorkloadKey {
  return kinds.find((key) => key === text) ?? 'pods'
}
