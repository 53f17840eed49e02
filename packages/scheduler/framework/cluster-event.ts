import type { Node, PersistentVolumeClaim, Pod } from '@skerry/api'

/** A change of the world that may let a waiting pod in. */
export type ClusterEvent =
  | { readonly kind: 'node-added'; readonly node: Node }
  | { readonly kind: 'node-updated'; readonly node: Node; readonly aspects: NodeAspects }
  /** A pod came to a node, or changed there. */
  | { readonly kind: 'pod-assigned'; readonly pod: Pod; readonly aspects: PodAspects }
  /** A pod left its node, or ended there. */
  | { readonly kind: 'pod-removed'; readonly pod: Pod }
  | { readonly kind: 'claim'; readonly claim: PersistentVolumeClaim }
  | { readonly kind: StorageEventKind | 'namespace' | 'resource-claim' | 'device-class' }

/** Something changed that volumes are found or made by. */
export type StorageEventKind =
  | 'volume'
  | 'storage-class'
  | 'csi-node'
  | 'csi-driver'
  | 'storage-capacity'

/** What changed of a node; a heartbeat changes nothing of it. */
export interface NodeAspects {
  readonly labels: boolean
  readonly taints: boolean
  readonly allocatable: boolean
  readonly features: boolean
}

export interface PodAspects {
  readonly isNew: boolean
  readonly labels: boolean
  /** It asks for less than before. */
  readonly scaledDown: boolean
}

export function nodeAspects(old: Node | undefined, node: Node): NodeAspects {
  return {
    labels: !isSame(old?.metadata.labels, node.metadata.labels),
    taints:
      !isSame(old?.spec?.taints, node.spec?.taints) ||
      (old?.spec?.unschedulable ?? false) !== (node.spec?.unschedulable ?? false),
    allocatable: !isSame(old?.status?.allocatable, node.status?.allocatable),
    features: !isSame(old?.status?.declaredFeatures, node.status?.declaredFeatures),
  }
}

export function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b)
}

/** A node came that was not there, or one changed in one of these aspects. */
export function isNodeEvent(event: ClusterEvent, ...aspects: (keyof NodeAspects)[]): boolean {
  if (event.kind === 'node-added') return true
  return event.kind === 'node-updated' && aspects.some((each) => event.aspects[each])
}
