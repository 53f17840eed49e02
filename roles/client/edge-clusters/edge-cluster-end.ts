import { edgeClusterAsks, type EdgeCluster } from '@skerry/provisioning'
import { phaseOf } from './edge-cluster-text.ts'

/** Returns how it ended, Ready for a check as well; undefined while something may still happen by itself, or waits for a person. */
export function endOf(edge: EdgeCluster): 'Ready' | 'Failed' | 'Cancelled' | undefined {
  const { metadata, status } = edge
  const { generation = 0, annotations = {} } = metadata
  const isAsked = Object.values(edgeClusterAsks).some((ask) => annotations[ask] !== undefined)
  if (isAsked || (status?.observedGeneration ?? 0) < generation) return undefined
  const phase = phaseOf(edge)
  if (phase === 'Ready' || phase === 'Checked') return 'Ready'
  if (phase !== 'Failed' && phase !== 'Cancelled') return undefined
  const steps = status?.steps ?? []
  const goesOn = steps.some(({ state, nextTime }) => state === 'Running' || nextTime !== undefined)
  return goesOn ? undefined : phase
}
