import type { EdgeClusterObject } from '../../data/edge/edge-cluster.ts'

/** Returns the words by which a command finds the namespace of an edge cluster. */
export function placeWords({ metadata: { namespace } }: EdgeClusterObject): string {
  return namespace === 'default' ? '' : ` --namespace ${namespace}`
}
