/** Kinds of which the suite asks no more than that they are stored, and what does not act on them here. */
export interface ApiOnly {
  readonly kinds: string
  /** Starts of the names of their tests. */
  readonly tests: readonly string[]
  readonly left: string
}

export const apiOnlyTable: readonly ApiOnly[] = Object.freeze([
  {
    kinds: 'DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice',
    tests: ['[sig-node] [DRA] CRUD Tests'],
    left: 'Nobody allocates devices',
  },
  {
    kinds: 'Ingress, IngressClass',
    tests: ['[sig-network] Ingress API', '[sig-network] IngressClass API'],
    left: 'Upstream has no controller either: run one as pods',
  },
  {
    kinds: 'CSIDriver, CSINode, CSIStorageCapacity, VolumeAttachment, VolumeAttributesClass',
    tests: [
      '[sig-storage] CSIInlineVolumes',
      '[sig-storage] CSINodes',
      '[sig-storage] CSIStorageCapacity',
      '[sig-storage] VolumeAttachment',
      '[sig-storage] VolumeAttributesClass',
    ],
    left: 'Nodes mount no volumes of CSI drivers',
  },
])
