/** Lists the kinds that the suite only stores, and the component that is missing here. */
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
    left: 'An allocator of devices',
  },
  {
    kinds: 'Ingress, IngressClass',
    tests: ['[sig-network] Ingress API', '[sig-network] IngressClass API'],
    left: 'A controller, which upstream lacks, too: run one as pods',
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
    left: 'Nodes that mount volumes of CSI drivers',
  },
])
