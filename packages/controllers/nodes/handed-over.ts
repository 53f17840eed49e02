import type { Node } from '@skerry/api'

/** The taint of a node whose unit is a cluster of its own, or is about to be. It keeps other pods away. */
export const handedOverTaint = 'edge.skerry.io/handed-over'

/** Returns whether another control plane has a node, so that its silence here means nothing. */
export function isHandedOver({ spec }: Pick<Node, 'spec'>): boolean {
  return (spec?.taints ?? []).some(({ key }) => key === handedOverTaint)
}
