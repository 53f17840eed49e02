import { parseQuantity, type FleetRow, type Lease } from '@skerry/api'
import { conditionOf, conditionTypes, parentOf, type Cluster } from '@skerry/fleet-kinds'
import { isImport, type EdgeCluster } from '@skerry/provisioning'
import { consoleBounds } from '../limits-table.ts'

export interface ClusterFacts {
  readonly cluster: Cluster
  /** Tunnels that are open now; of the parent, for a virtual cluster. */
  readonly tunnels: number
  readonly lastEnd: string | undefined
  readonly lease: Lease | undefined
  readonly edgeCluster: EdgeCluster | undefined
}

/** Describes one cluster. Pure. The open tunnels decide, because the object lags by a moment. */
export function fleetRow(facts: ClusterFacts): FleetRow {
  const { cluster, tunnels, lease, edgeCluster } = facts
  const { metadata, spec, status } = cluster
  const isPush = spec.syncMode === 'Push'
  const { readyNum, totalNum } = status?.nodeSummary ?? {}
  const { allocatable = {}, allocated = {} } = status?.resourceSummary ?? {}
  const place = { p: spec.provider, r: spec.region, z: spec.zones?.[0] ?? spec.zone }
  const row: Partial<Record<keyof FleetRow, unknown>> = {
    n: metadata.name ?? '',
    ...stateOf(facts),
    v: status?.kubernetesVersion,
    ...place,
    l: Object.keys(metadata.labels ?? {}).length === 0 ? undefined : metadata.labels,
    nr: readyNum,
    nt: totalNum,
    pc: countOf(allocated['pods']),
    cpu: shareOf(allocated['cpu'], allocatable['cpu']),
    mem: shareOf(allocated['memory'], allocatable['memory']),
    seen: tunnels > 0 || isPush ? undefined : secondsOf(lease?.spec?.renewTime),
    tun: tunnels > 0 ? tunnels : undefined,
    parent: parentOf(cluster),
    kind: kindOf(facts),
    e: edgeCluster && `${edgeCluster.metadata.namespace}/${edgeCluster.metadata.name}`,
  }
  const known = Object.entries(row).filter(([, value]) => value !== undefined && value !== '')
  // Only empty values, which every key but the first two may have, are left out.
  return Object.fromEntries(known) as unknown as FleetRow
}

type State = Pick<FleetRow, 's' | 't' | 'm'>

/** States that work on machines explains: nodes come, and the site starts again. */
const statesOfWork: ReadonlySet<State['s']> = new Set(['pending', 'ready', 'degraded', 'unknown'])

/** Work that rests or runs hides no cluster that is away or has failed. */
function stateOf(facts: ClusterFacts): State {
  const own = clusterStateOf(facts)
  const work = edgeStateOf(facts.edgeCluster)
  if (work === undefined) return own
  const isExplained =
    work.s === 'suspended' ? own.s === 'pending' || own.s === 'ready' : statesOfWork.has(own.s)
  if (isExplained) return work
  const message = [own.m, work.m].filter((each) => each !== undefined).join('; ')
  return { ...own, ...messageOf(message) }
}

/** Returns the state of work on the machines; undefined if there is none. */
function edgeStateOf(edgeCluster: EdgeCluster | undefined): State | undefined {
  const phase = edgeCluster?.status?.phase
  if (phase === 'Failed') return { s: 'failed', m: 'a step on its machines has failed' }
  if (phase === 'Paused') return { s: 'suspended', m: 'its steps are paused' }
  if (phase === 'Running' || phase === 'Waiting') return { s: 'working' }
  return undefined
}

const { messageCharsMax } = consoleBounds.fleetBoard

function clusterStateOf({ cluster, tunnels, lastEnd }: ClusterFacts): State {
  const conditions = cluster.status?.conditions
  const connected = conditionOf(conditions, conditionTypes.connected)
  const ready = conditionOf(conditions, conditionTypes.ready)
  const isPush = cluster.spec.syncMode === 'Push'
  if (!isPush && tunnels === 0) {
    const isNew = !connected || connected.reason === 'NeverConnected'
    if (isNew && !ready) return { s: 'pending' }
    const t = connected?.status === 'False' ? secondsOf(connected.lastTransitionTime) : undefined
    const why = lastEnd ?? connected?.message
    return { s: 'away', ...(t === undefined ? {} : { t }), ...messageOf(why) }
  }
  const t = secondsOf(ready?.lastTransitionTime)
  const since = t === undefined ? {} : { t }
  if (ready?.status === 'False') return { s: 'failed', ...since, ...messageOf(ready.message) }
  if (ready?.status !== 'True') return { s: 'unknown', ...since, ...messageOf(ready?.message) }
  const { readyNum = 0, totalNum = 0 } = cluster.status?.nodeSummary ?? {}
  if (readyNum >= totalNum) return { s: 'ready', ...since }
  return { s: 'degraded', m: `${totalNum - readyNum} of ${totalNum} nodes are not ready` }
}

function messageOf(text: string | undefined): Pick<FleetRow, 'm'> {
  return text === undefined || text === '' ? {} : { m: text.slice(0, messageCharsMax) }
}

function kindOf({ cluster, edgeCluster }: ClusterFacts): FleetRow['kind'] {
  if (cluster.spec.syncMode === 'Push') return 'push'
  if (parentOf(cluster) !== undefined) return 'virtual'
  return edgeCluster && (isImport(edgeCluster) ? 'import' : 'site')
}

function secondsOf(time: string | undefined): number | undefined {
  const ms = time === undefined ? Number.NaN : Date.parse(time)
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1_000)
}

function countOf(text: string | undefined): number | undefined {
  const value = valueOf(text)
  return value === undefined ? undefined : Math.round(value)
}

function shareOf(part: string | undefined, whole: string | undefined): number | undefined {
  const [used, all] = [valueOf(part), valueOf(whole)]
  if (used === undefined || all === undefined || all <= 0) return undefined
  return Math.round(Math.min(1, Math.max(0, used / all)) * 1_000) / 1_000
}

/** An agent writes these; one that is wrong must not hide its cluster. */
function valueOf(text: string | undefined): number | undefined {
  if (typeof text !== 'string' || text.length > 64) return undefined
  try {
    return Number(parseQuantity(text).nanos) / 1e9
  } catch {
    // It is not a quantity.
    return undefined
  }
}
