import { abortReason, type Clock } from '@skerry/base'
import {
  mayRepeat,
  TunnelUnavailableError,
  type TunnelEnd,
  type TunnelRegistry,
  type TunnelRequest,
  type TunnelUpgraded,
} from '@skerry/tunnel'
import {
  describeTunnels,
  endReport,
  type TunnelReportDeps,
  type TunnelsReport,
} from '../state/tunnel-report.ts'
import type { ClusterWay } from '../way/cluster-way.ts'
import { fromReplica, toReplica } from './replica-answer.ts'
import type { ReplicaDirectory } from './replica-directory.ts'
import { askReports } from './replica-reports.ts'
import { gatewayBounds } from '../limits-table.ts'

export interface ConnectedClustersParts {
  /** The tunnels that end in this process. */
  readonly own: TunnelRegistry
  /** The links from the other replicas, by their ids. */
  readonly links: TunnelRegistry
  readonly agentOf: TunnelReportDeps['agentOf']
  readonly directory: Pick<ReplicaDirectory, 'holders' | 'lastEnd'>
  /** Calls the listener with a cluster whose tunnels changed, here or at another replica. */
  readonly onChange: (listener: (cluster: string) => void) => Disposable
  readonly clock: Clock
}

const { comeBackMs } = gatewayBounds.replicatedTunnels

/** Reaches every cluster that has a tunnel to some replica, as if the tunnel ended here. */
export interface ConnectedClusters extends ClusterWay {
  isConnected(cluster: string): boolean
  lastEnd(cluster: string): TunnelEnd | undefined
  /** Describes all tunnels of each of these clusters, on whichever replica they end. */
  readonly describe: (
    clusters: readonly string[],
    signal: AbortSignal,
  ) => Promise<ReadonlyMap<string, TunnelsReport>>
}

export function createConnectedClusters(parts: ConnectedClustersParts): ConnectedClusters {
  const { own, links, directory } = parts
  const linked = (cluster: string): readonly string[] =>
    directory.holders(cluster).filter((id) => isOpen(links, id))
  const isConnected = (cluster: string): boolean =>
    isOpen(own, cluster) || linked(cluster).length > 0
  const isAway = (cluster: string): boolean => !isConnected(cluster) && isMoving(cluster, parts)
  const untilBack = (cluster: string, signal: AbortSignal): Promise<void> =>
    untilConnected({ cluster, isConnected }, parts, signal)
  const tryEach = async <Answer extends TunnelUpgraded>(
    { cluster, request, signal }: Asked,
    ask: Ask<Answer>,
  ): Promise<Answer> => {
    const ways = (): (() => Promise<Answer>)[] => {
      const ids = linked(cluster)
      const here = () => ask(own, cluster, request)
      const there = ids.map((id) => async () => {
        return fromReplica(cluster, await ask(links, id, toReplica(cluster, request)))
      })
      // If there is no tunnel at all, this one reports it.
      return isOpen(own, cluster) || ids.length === 0 ? [here, ...there] : there
    }
    if (isAway(cluster)) await untilBack(cluster, signal)
    try {
      return await askEach(request, ways())
    } catch (error) {
      // The replica died during the request.
      if (!mayAskNext(request, error) || !isAway(cluster)) {
        throw withNewerEnd({ cluster, fault: error }, parts)
      }
    }
    await untilBack(cluster, signal)
    return askEach(request, ways())
  }
  return {
    send: (cluster, request, signal) =>
      tryEach({ cluster, request, signal }, (registry, identity, inner) =>
        registry.send(identity, inner, signal),
      ),
    upgrade: (cluster, request, signal) =>
      tryEach({ cluster, request, signal }, (registry, identity, inner) =>
        registry.upgrade(identity, inner, signal),
      ),
    isConnected,
    lastEnd: (cluster) => lastEndOf(cluster, parts),
    describe: (clusters, signal) => describeEach(clusters, { parts, linked, isConnected }, signal),
  }
}

type Ask<Answer> = (
  registry: TunnelRegistry,
  identity: string,
  request: TunnelRequest,
) => Promise<Answer>

function isOpen(registry: TunnelRegistry, identity: string): boolean {
  return registry.sessions(identity).some((session) => session.isOpen)
}

interface Describing {
  readonly parts: ConnectedClustersParts
  /** Returns the replicas that have the cluster's tunnel and whose link is open. */
  readonly linked: (cluster: string) => readonly string[]
  readonly isConnected: (cluster: string) => boolean
}

async function describeEach(
  clusters: readonly string[],
  { parts, linked, isConnected }: Describing,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, TunnelsReport>> {
  const { own, links, agentOf, clock } = parts
  const asked = new Map<string, string[]>()
  for (const cluster of clusters) {
    for (const id of linked(cluster)) asked.set(id, [...(asked.get(id) ?? []), cluster])
  }
  const elsewhere = await askReports(asked, { links, clock }, signal)
  return new Map(
    clusters.map((cluster) => {
      const here = describeTunnels({ registry: own, agentOf, clock }, cluster)
      const tunnels = [...here.tunnels, ...(elsewhere.get(cluster) ?? [])]
      const lastEnd = newestOf(here.lastEnd, endReport(parts.directory.lastEnd(cluster)))
      return [cluster, { cluster, isConnected: isConnected(cluster), tunnels, lastEnd }]
    }),
  )
}

function newestOf(one: TunnelsReport['lastEnd'], other: TunnelsReport['lastEnd']) {
  if (one === null || other === null) return one ?? other
  return one.at >= other.at ? one : other
}

function lastEndOf(
  cluster: string,
  { own, directory }: ConnectedClustersParts,
): TunnelEnd | undefined {
  const ends = [own.lastEnd(cluster), directory.lastEnd(cluster)].filter((end) => end !== undefined)
  return ends.toSorted((a, b) => b.atMs - a.atMs)[0]
}

/** Replaces the fault if another replica knows a newer end of the tunnel than this process. */
function withNewerEnd(
  { cluster, fault }: { cluster: string; fault: unknown },
  { own, links, directory, clock }: ConnectedClustersParts,
): unknown {
  if (!(fault instanceof TunnelUnavailableError) || isOpen(own, cluster)) return fault
  const holders = directory.holders(cluster)
  const [holder] = holders
  if (holder !== undefined && !holders.some((id) => isOpen(links, id))) {
    const atMs = links.lastEnd(holder)?.atMs ?? clock.now()
    return new TunnelUnavailableError(cluster, { reason: replicaAway, atMs })
  }
  const elsewhere = directory.lastEnd(cluster)
  const isNewer = elsewhere && elsewhere.atMs > (own.lastEnd(cluster)?.atMs ?? 0)
  return isNewer ? new TunnelUnavailableError(cluster, elsewhere) : fault
}

const replicaAway = 'the replica that has its tunnel does not answer'

interface Asked {
  readonly cluster: string
  readonly request: TunnelRequest
  readonly signal: AbortSignal
}

/** Expects at least one way. */
async function askEach<Answer>(
  request: TunnelRequest,
  ways: readonly (() => Promise<Answer>)[],
): Promise<Answer> {
  let fault: unknown
  for (const ask of ways) {
    try {
      return await ask()
    } catch (error) {
      fault = error
      if (!mayAskNext(request, error)) throw error
    }
  }
  throw fault
}

/** Reports whether the replica that had its tunnel died just now. */
function isMoving(cluster: string, { links, directory, clock }: ConnectedClustersParts): boolean {
  const isRecent = (atMs: number): boolean => clock.now() - atMs < comeBackMs
  const end = directory.lastEnd(cluster)
  if (end?.isReplicaGone && isRecent(end.atMs)) return true
  return directory.holders(cluster).some((id) => isRecent(links.lastEnd(id)?.atMs ?? 0))
}

async function untilConnected(
  { cluster, isConnected }: { cluster: string; isConnected: (cluster: string) => boolean },
  { onChange, clock }: ConnectedClustersParts,
  signal: AbortSignal,
): Promise<void> {
  const back = Promise.withResolvers<void>()
  using _listening = onChange((changed) => {
    if (changed === cluster && isConnected(cluster)) back.resolve()
  })
  using _late = clock.setTimer(comeBackMs, () => back.resolve())
  const onAbort = (): void => back.reject(abortReason(signal))
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    if (signal.aborted) onAbort()
    await back.promise
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** A tunnel that turned out not to be there took nothing of a request that has no stream for a body. */
function mayAskNext(request: TunnelRequest, error: unknown): boolean {
  if (!(error instanceof TunnelUnavailableError)) return mayRepeat(request, error)
  return request.body === undefined || request.body instanceof Uint8Array
}
