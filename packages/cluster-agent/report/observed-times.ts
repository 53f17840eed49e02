import { type ClusterStatus, apiTime } from '@skerry/fleet-kinds'
import { isSameFacts } from './same-facts.ts'
import { clusterAgentBounds } from '../limits-table.ts'

/** The annotations of a Cluster with the time at which its agent last saw each fact. */
export const observedKeys = Object.freeze({
  version: 'hub.skerry.io/observed-version',
  nodes: 'hub.skerry.io/observed-nodes',
  resources: 'hub.skerry.io/observed-resources',
  apis: 'hub.skerry.io/observed-apis',
  labels: 'hub.skerry.io/observed-labels',
  /** Provider, region and zones. */
  place: 'hub.skerry.io/observed-place',
})

const { confirmMs } = clusterAgentBounds.observedTimes

/**
 * The time at which each fact of a round was seen, in milliseconds since the Unix epoch; omitted if not seen
 * in this round.
 */
export type SeenTimes = Partial<Record<keyof typeof observedKeys, number>>

interface Observed {
  readonly status: ClusterStatus
  readonly annotations: Readonly<Record<string, string>>
  /** True if labels or place changed and no status has reported the time of it yet. */
  readonly hasNewDescription: boolean
}

/** Returns the annotations for the next status; the same ones if there is nothing new. */
export function observedAnnotations(
  known: Observed,
  next: ClusterStatus,
  seen: SeenTimes,
): Record<string, string> {
  const facts = {
    version: [known.status.kubernetesVersion, next.kubernetesVersion],
    nodes: [known.status.nodeSummary, next.nodeSummary],
    resources: [known.status.resourceSummary, next.resourceSummary],
    apis: [known.status.apiEnablements, next.apiEnablements],
    labels: [known.hasNewDescription, false],
    place: [known.hasNewDescription, false],
  }
  const annotations = { ...known.annotations }
  for (const fact of ['version', 'nodes', 'resources', 'apis', 'labels', 'place'] as const) {
    const seenMs = seen[fact]
    if (seenMs === undefined) continue
    const [before, after] = facts[fact]
    const key = observedKeys[fact]
    const toldMs = Date.parse(annotations[key] ?? '')
    const isTold = isSameFacts(before, after) && seenMs < toldMs + confirmMs
    if (!isTold) annotations[key] = apiTime(seenMs)
  }
  return annotations
}
