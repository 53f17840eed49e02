import type { Clock } from '@skerry/base'
import type { ClusterClient, Discovery } from '@skerry/client'
import { controllerBounds } from '../limits-table.ts'

const { recentMs } = controllerBounds.recentDiscovery

/** Caches the server's discovery for a while. Callers share one request. */
export function createRecentDiscovery(
  cluster: ClusterClient,
  clock: Clock,
): (signal: AbortSignal) => Promise<Discovery> {
  let known: { readonly answer: Promise<Discovery>; readonly untilMs: number } | undefined
  return async (signal) => {
    const nowMs = clock.monotonicMs()
    if (known && known.untilMs > nowMs) return known.answer
    const answer = cluster.discover(signal)
    known = { answer, untilMs: nowMs + recentMs }
    try {
      return await answer
    } catch (error) {
      known = undefined
      throw error
    }
  }
}
