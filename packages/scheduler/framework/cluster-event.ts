import type { Node, PersistentVolumeClaim, Pod } from '@skerry/api'

/** A change that may make a waiting pod schedulable. */
export type ClusterEvent =
  | { readonly kind: 'node-added'; readonly node: Node }
  | { readonly kind: 'node-updated'; readonly node: Node; readonly aspects: NodeAspects }
  /** A pod was assigned to a node, or changed there. */
  | { readonly kind: 'pod-assigned'; readonly pod: Pod; readonly aspects: PodAspects }
  /** A pod left its node, or ended there. */
  | { readonly kind: 'pod-removed'; readonly pod: Pod }
  | { readonly kind: 'claim'; readonly claim: PersistentVolumeClaim }
  | { readonly kind: StorageEventKind | 'namespace' | 'resource-claim' | 'device-class' }

/** A change of an object that volumes are found or created by. */
export type StorageEventKind =
  | 'volume'
  | 'storage-class'
  | 'csi-node'
  | 'csi-driver'
  | 'storage-capacity'

/** The changed aspects of a node; a heartbeat changes none. */
export interface NodeAspects {
  readonly labels: boolean
  readonly taints: boolean
  readonly allocatable: boolean
  readonly features: boolean
}

export interface PodAspects {
  readonly isNew: boolean
  readonly labels: boolean
  /** The pod requests less than before. */
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

/** Returns true if a node was added, or changed in one of these aspects. */
export function isNodeEvent(event: ClusterEvent, ...aspects: (keyof NodeAspects)[]): boolean {
  if (event.kind === 'node-added') return true
  return event.kind === 'node-updated' && aspects.some((each) => event.aspects[each])
}
