/** How an application is in each cluster, from its binding and from the hub's explanation. Pure. */
import { byName } from '../../data/fleet/fleet.ts'
import {
  standings,
  type BoundObject,
  type ExplainedCluster,
  type Explanation,
  type Standing,
} from '../../data/fleet/explanation.ts'

/** A work.karmada.io/v1alpha2 ResourceBinding, as far as it is shown. */
export interface Binding {
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly creationTimestamp?: string
  }
  readonly spec: {
    readonly resource: BoundObject
    readonly clusters?: readonly { readonly name: string; readonly replicas?: number }[]
    readonly suspension?: {
      readonly dispatching?: boolean
      readonly dispatchingOnClusters?: { readonly clusterNames?: readonly string[] }
    }
  }
  readonly status?: { readonly aggregatedStatus?: readonly Aggregated[] }
}

/** The report of one cluster. */
interface Aggregated {
  readonly clusterName: string
  readonly status?: Readonly<Record<string, unknown>>
  readonly applied?: boolean
  readonly appliedMessage?: string
  readonly health?: string
}

export interface ApplicationRow {
  readonly cluster: string
  readonly standing: Standing
  /** Undefined for kinds without replicas, and while nobody has reported any. */
  readonly ready: number | undefined
  readonly desired: number | undefined
  readonly message: string
  readonly overrides: ExplainedCluster['overrides']
}

/** Lists the whole fleet if there is an explanation, and otherwise the clusters that the binding names. */
export function applicationRows(
  binding: Binding,
  explanation: Explanation | undefined,
): ApplicationRow[] {
  const reported = new Map(
    (binding.status?.aggregatedStatus ?? []).map((each) => [each.clusterName, each]),
  )
  if (explanation !== undefined) {
    return explanation.clusters.map((cluster) => explainedRow(cluster, reported.get(cluster.name)))
  }
  return (binding.spec.clusters ?? []).map(({ name, replicas }) => {
    const found = reported.get(name)
    const standing = isSuspendedOn(binding, name) ? 'Suspended' : standingOf(found)
    return {
      cluster: name,
      standing,
      ...countsOf(found?.status, replicas),
      message: found?.applied === true ? '' : (found?.appliedMessage ?? ''),
      overrides: [],
    }
  })
}

function explainedRow(
  { name, standing, replicas, why, overrides }: ExplainedCluster,
  found: Aggregated | undefined,
): ApplicationRow {
  const counts = standing === 'NotPlaced' ? none : countsOf(found?.status, replicas)
  return { cluster: name, standing, ...counts, message: why.join(' '), overrides }
}

function standingOf(found: Aggregated | undefined): Standing {
  if (found?.applied === false) return 'Failed'
  if (found?.health === 'Healthy') return 'Healthy'
  return found?.health === 'Unhealthy' ? 'Unhealthy' : 'Waiting'
}

function isSuspendedOn({ spec: { suspension } }: Binding, cluster: string): boolean {
  if (suspension?.dispatching === true) return true
  return suspension?.dispatchingOnClusters?.clusterNames?.includes(cluster) === true
}

const none = { ready: undefined, desired: undefined }

/** A Deployment without ready pods has no such field, but it has replicas. */
function countsOf(
  status: Readonly<Record<string, unknown>> | undefined,
  replicas: number | undefined,
): Pick<ApplicationRow, 'ready' | 'desired'> {
  const first = (...names: readonly string[]): number | undefined =>
    names.map((name) => status?.[name]).find((value) => typeof value === 'number')
  const desired = replicas ?? first('replicas', 'desiredNumberScheduled')
  if (desired === undefined) return none
  const ready = first('readyReplicas', 'numberReady', 'succeeded')
  return { ready: ready ?? (status === undefined ? undefined : 0), desired }
}

export interface ApplicationTotals {
  readonly ready: number
  readonly desired: number
  /** Each standing of a cluster that has the object, the worst first, and how many clusters have it. */
  readonly standings: readonly (readonly [Standing, number])[]
}

export function applicationTotals(rows: readonly ApplicationRow[]): ApplicationTotals {
  const sum = (of: (row: ApplicationRow) => number | undefined): number =>
    rows.reduce((total, row) => total + (of(row) ?? 0), 0)
  const counted = standings
    .filter((standing) => standing !== 'NotPlaced')
    .map((standing) => [standing, rows.filter((row) => row.standing === standing).length] as const)
    .filter(([, count]) => count > 0)
  return {
    ready: sum(({ ready }) => ready),
    desired: sum(({ desired }) => desired),
    standings: counted,
  }
}

/** Compares two clusters: the worse standing first, then by name. */
export function byStanding(a: ApplicationRow, b: ApplicationRow): number {
  return (
    standings.indexOf(a.standing) - standings.indexOf(b.standing) || byName(a.cluster, b.cluster)
  )
}
