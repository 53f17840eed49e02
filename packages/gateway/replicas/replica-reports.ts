import { linkedSignal, type Clock } from '@skerry/base'
import type { TunnelRegistry } from '@skerry/tunnel'
import type { TunnelReport, TunnelsReport } from '../state/tunnel-report.ts'
import { fromReplica, readReports, reportsRequest } from './replica-answer.ts'
import { clustersPerReport, gatewayBounds } from '../limits-table.ts'

const { answerMs } = gatewayBounds.replicaReports

interface AskDeps {
  /** The links from the other replicas, by their ids. */
  readonly links: TunnelRegistry
  readonly clock: Clock
}

/**
 * Returns the other replicas' reports on their tunnels of these clusters, by cluster. A replica that does not
 * answer is left out.
 */
export async function askReports(
  clustersOf: ReadonlyMap<string, readonly string[]>,
  deps: AskDeps,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly TunnelReport[]>> {
  const asked = [...clustersOf].flatMap(([id, clusters]) =>
    inPieces(clusters).map((piece) => ({ id, piece })),
  )
  const answers = await Promise.all(asked.map((each) => askOne(each, deps, signal)))
  const found = new Map<string, TunnelReport[]>()
  for (const { cluster, tunnels } of answers.flat()) {
    found.set(cluster, [...(found.get(cluster) ?? []), ...tunnels])
  }
  return found
}

function inPieces(clusters: readonly string[]): (readonly string[])[] {
  const count = Math.ceil(clusters.length / clustersPerReport)
  return Array.from({ length: count }, (_, at) =>
    clusters.slice(at * clustersPerReport, (at + 1) * clustersPerReport),
  )
}

async function askOne(
  { id, piece }: { id: string; piece: readonly string[] },
  { links, clock }: AskDeps,
  signal: AbortSignal,
): Promise<readonly TunnelsReport[]> {
  using scope = linkedSignal(signal)
  using _late = clock.setTimer(answerMs, () => scope.abort(new Error('The replica is slow')))
  try {
    const answer = await links.send(id, reportsRequest(piece), scope.signal)
    const reports = await readReports((await fromReplica('', answer)).body)
    // A replica of this version wrote them with describeTunnels; another one refuses the path.
    return Array.isArray(reports) ? (reports as TunnelsReport[]) : []
  } catch (error) {
    if (signal.aborted) throw error
    return []
  }
}
