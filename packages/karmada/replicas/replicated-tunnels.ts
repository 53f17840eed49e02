import type { Clock } from '@skerry/base'
import {
  mayRepeat,
  TunnelUnavailableError,
  type TunnelEnd,
  type TunnelRegistry,
  type TunnelRequest,
} from '@skerry/tunnel'
import { describeTunnels, type TunnelReport, type TunnelsReport } from '../proxy/tunnel-report.ts'
import { fromReplica, readJson, reportRequest, toReplica } from './replica-answer.ts'
import type { ReplicaDirectory } from './replica-directory.ts'

export interface ReplicatedTunnelsParts {
  /** Tunnels that end in this process. */
  readonly own: TunnelRegistry
  /** Links from the other replicas, by their ids. */
  readonly links: TunnelRegistry
  readonly directory: Pick<ReplicaDirectory, 'holders' | 'lastEnd'>
  readonly clock: Pick<Clock, 'now'>
}

/** Every cluster that some replica has a tunnel of, as if the tunnel ended here. */
export interface ReplicatedTunnels extends Pick<TunnelRegistry, 'send' | 'upgrade'> {
  isConnected(cluster: string): boolean
  lastEnd(cluster: string): TunnelEnd | undefined
  /** All tunnels of a cluster, wherever they end. */
  readonly describe: (cluster: string, signal: AbortSignal) => Promise<TunnelsReport>
}

export function createReplicatedTunnels(parts: ReplicatedTunnelsParts): ReplicatedTunnels {
  const { own, links, directory } = parts
  const isOpen = (registry: TunnelRegistry, identity: string): boolean =>
    registry.sessions(identity).some((session) => session.isOpen)
  const linked = (cluster: string): readonly string[] =>
    directory.holders(cluster).filter((id) => isOpen(links, id))
  const lastEnd = (cluster: string): TunnelEnd | undefined => {
    const ends = [own.lastEnd(cluster), directory.lastEnd(cluster)].filter(
      (end) => end !== undefined,
    )
    return ends.toSorted((a, b) => b.atMs - a.atMs)[0]
  }
  const tryEach = async <Answer>(
    cluster: string,
    request: TunnelRequest,
    ways: readonly (() => Promise<Answer>)[],
  ): Promise<Answer> => {
    let fault: unknown
    for (const ask of ways) {
      try {
        return await ask()
      } catch (error) {
        fault = error
        if (!mayAskNext(request, error)) throw error
      }
    }
    const elsewhere = directory.lastEnd(cluster)
    const isNewer = elsewhere && elsewhere.atMs > (own.lastEnd(cluster)?.atMs ?? 0)
    if (!isNewer || !(fault instanceof TunnelUnavailableError)) throw fault
    throw new TunnelUnavailableError(cluster, elsewhere)
  }
  // Also when there is no tunnel at all: then it says so.
  const isAsked = (cluster: string): boolean => isOpen(own, cluster) || linked(cluster).length === 0
  return {
    send(cluster, request, signal) {
      return tryEach(cluster, request, [
        ...(isAsked(cluster) ? [() => own.send(cluster, request, signal)] : []),
        ...linked(cluster).map((id) => async () => {
          const answer = await links.send(id, toReplica(cluster, request), signal)
          return fromReplica(cluster, answer)
        }),
      ])
    },
    upgrade(cluster, request, signal) {
      return tryEach(cluster, request, [
        ...(isAsked(cluster) ? [() => own.upgrade(cluster, request, signal)] : []),
        ...linked(cluster).map((id) => async () => {
          const answer = await links.upgrade(id, toReplica(cluster, request), signal)
          return fromReplica(cluster, answer)
        }),
      ])
    },
    isConnected: (cluster) => isOpen(own, cluster) || linked(cluster).length > 0,
    lastEnd,
    async describe(cluster, signal) {
      const local = describeTunnels(own, cluster)
      const elsewhere = await Promise.all(
        linked(cluster).map((id) => reportOf(links, { id, cluster }, signal)),
      )
      const tunnels = [...local.tunnels, ...elsewhere.flat()]
      const isConnected = tunnels.length > 0
      const end = isConnected ? undefined : lastEnd(cluster)
      const shown = end ? { reason: end.reason, at: new Date(end.atMs).toISOString() } : null
      return { cluster, isConnected, tunnels, lastEnd: shown }
    },
  }
}

/** A tunnel that turned out not to be there took nothing of a request that has no stream for a body. */
function mayAskNext(request: TunnelRequest, error: unknown): boolean {
  if (!(error instanceof TunnelUnavailableError)) return mayRepeat(request, error)
  return request.body === undefined || request.body instanceof Uint8Array
}

/** None when the other replica does not answer: what cannot be seen is not shown. */
async function reportOf(
  links: TunnelRegistry,
  { id, cluster }: { id: string; cluster: string },
  signal: AbortSignal,
): Promise<readonly TunnelReport[]> {
  try {
    const answer = await links.send(id, reportRequest(cluster), signal)
    const report = await readJson((await fromReplica(cluster, answer)).body)
    // A replica's own describeTunnels wrote it.
    return (report as TunnelsReport | undefined)?.tunnels ?? []
  } catch (error) {
    if (signal.aborted) throw error
    return []
  }
}
