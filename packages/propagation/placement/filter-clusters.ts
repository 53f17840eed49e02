import type { Taint, Toleration } from '@skerry/api'
import { bindingName, matchesAffinity, type BindingSpec } from '@skerry/karmada-kinds'
import { appliesWorksAnnotation, type Cluster } from '@skerry/fleet-kinds'
import { affinitiesInForce } from './affinity-terms.ts'
import type { ClusterDiagnosis, PlacementInput } from './placement-input.ts'
import { tolerates } from './tolerates.ts'
import { isTarget } from './workload.ts'

export interface FilteredClusters {
  readonly fitting: readonly Cluster[]
  readonly diagnosis: readonly ClusterDiagnosis[]
}

/**
 * Returns the clusters that may take the object, by the affinity term in force. A cluster that is being
 * deleted is in neither list.
 */
export function filterClusters(
  input: PlacementInput,
  affinityName: string | undefined,
): FilteredClusters {
  const fitting: Cluster[] = []
  const diagnosis: ClusterDiagnosis[] = []
  for (const cluster of input.clusters) {
    if (cluster.metadata.deletionTimestamp !== undefined) continue
    const reasons = filters
      .map((filter) => filter(cluster, input, affinityName))
      .filter((reason) => reason !== undefined)
    if (reasons.length === 0) fitting.push(cluster)
    else diagnosis.push({ cluster: cluster.metadata.name ?? '', reasons })
  }
  return { fitting, diagnosis }
}

/** Returns why the cluster does not fit, in upstream's words; undefined if it does. */
type Filter = (
  cluster: Cluster,
  input: PlacementInput,
  affinityName: string | undefined,
) => string | undefined

/**
 * Upstream runs its filters in random order and reports the first reason; here the order is fixed. The most
 * specific filters come first.
 */
const filters: readonly Filter[] = [
  filterByAffinity,
  unlessTarget(filterByTaints),
  unlessTarget(filterByApi),
  unlessTarget(filterByWorks),
  filterBySpread,
  filterByEviction,
  unlessTarget(filterByGroup),
  unlessTarget(filterByAntiGroup),
]

/** Skips the filter for present targets: only evictions remove them. */
function unlessTarget(filter: Filter): Filter {
  return (cluster, input, affinityName) =>
    isTarget(input.spec, cluster.metadata.name ?? '')
      ? undefined
      : filter(cluster, input, affinityName)
}

function filterByAffinity(
  cluster: Cluster,
  { spec }: PlacementInput,
  affinityName: string | undefined,
): string | undefined {
  const affinities = affinitiesInForce(spec, affinityName)
  if (affinities.length === 0) return undefined
  if (affinities.some((affinity) => matchesAffinity(cluster, affinity))) return undefined
  return 'cluster(s) did not match the placement cluster affinity constraint'
}

function filterByTaints(cluster: Cluster, { spec }: PlacementInput): string | undefined {
  const taint = untoleratedTaint(cluster, spec.placement?.clusterTolerations ?? [])
  return taint && `cluster(s) had untolerated taint {${taintText(taint)}}`
}

function untoleratedTaint(cluster: Cluster, tolerations: readonly Toleration[]): Taint | undefined {
  return (cluster.spec.taints ?? []).find(
    (taint) =>
      taint.effect !== 'PreferNoSchedule' &&
      !tolerations.some((toleration) => tolerates(toleration, taint)),
  )
}

function taintText({ key, value = '', effect }: Taint): string {
  const named = value === '' ? key : `${key}=${value}`
  if (effect !== '') return `${named}:${effect}`
  return value === '' ? key : `${named}:`
}

function filterByApi(cluster: Cluster, { spec }: PlacementInput): string | undefined {
  const { apiVersion, kind } = spec.resource
  const isServed = (cluster.status?.apiEnablements ?? []).some(
    ({ groupVersion, resources = [] }) =>
      groupVersion === apiVersion && resources.some((each) => each.kind === kind),
  )
  return isServed ? undefined : 'cluster(s) did not have the API resource'
}

function filterByWorks({ metadata }: Cluster): string | undefined {
  const isUnfit = metadata.annotations?.[appliesWorksAnnotation] === 'false'
  return isUnfit ? 'cluster(s) did not apply Works' : undefined
}

function filterBySpread(
  { metadata, spec: cluster }: Cluster,
  { spec }: PlacementInput,
): string | undefined {
  for (const { spreadByField, spreadByLabel } of spec.placement?.spreadConstraints ?? []) {
    if (spreadByField === 'provider' && !cluster.provider)
      return 'cluster(s) did not have provider property'
    if (spreadByField === 'region' && !cluster.region)
      return 'cluster(s) did not have region property'
    if (spreadByField === 'zone' && (cluster.zones ?? []).length === 0)
      return 'cluster(s) did not have zones property'
    if (spreadByLabel && !metadata.labels?.[spreadByLabel])
      return `cluster(s) did not have label ${spreadByLabel}`
  }
  return undefined
}

function filterByEviction({ metadata }: Cluster, { spec }: PlacementInput): string | undefined {
  const tasks = spec.gracefulEvictionTasks ?? []
  return tasks.some(({ fromCluster }) => fromCluster === metadata.name)
    ? 'cluster(s) is in the process of eviction'
    : undefined
}

function filterByGroup({ metadata }: Cluster, input: PlacementInput): string | undefined {
  const group = input.spec.workloadAffinityGroups?.affinityGroup
  if (!group) return undefined
  const isAway = neighbours(input).some(
    ({ workloadAffinityGroups, clusters = [], ...spec }) =>
      workloadAffinityGroups?.affinityGroup === group &&
      clusters.length > 0 &&
      !isTarget({ ...spec, clusters }, metadata.name ?? ''),
  )
  return isAway
    ? 'ResourceBinding with the same affinity group does not target this cluster'
    : undefined
}

function filterByAntiGroup({ metadata }: Cluster, input: PlacementInput): string | undefined {
  const group = input.spec.workloadAffinityGroups?.antiAffinityGroup
  if (!group) return undefined
  const isThere = neighbours(input).some(
    (spec) =>
      spec.workloadAffinityGroups?.antiAffinityGroup === group &&
      isTarget(spec, metadata.name ?? ''),
  )
  return isThere ? 'cluster already has workload with the same anti-affinity group' : undefined
}

/** Returns the bindings of the same namespace, without the binding itself. */
function neighbours({ spec, others = [] }: PlacementInput): BindingSpec[] {
  const { kind, name, namespace } = spec.resource
  const own = bindingName(kind, name)
  return others
    .filter(({ metadata }) => metadata.namespace === namespace && metadata.name !== own)
    .map((other) => other.spec)
}
