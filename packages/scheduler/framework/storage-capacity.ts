import {
  compareQuantities,
  labelSelectorOf,
  parseQuantity,
  type CSIStorageCapacity,
  type PersistentVolumeClaim,
  type StorageClass,
} from '@skerry/api'
import type { NodeInfo } from './node-info.ts'
import type { Snapshot } from './plugin.ts'

export interface Provisioning {
  readonly claim: PersistentVolumeClaim
  readonly storageClass: StorageClass
  readonly node: NodeInfo
}

/**
 * Returns true if the class's driver has published enough capacity for the claim where the node
 * reaches it (KEP-1472). A driver that publishes none is assumed to have enough.
 */
export function hasRoom(
  { csiDriver, storageCapacities }: Snapshot,
  { claim, storageClass, node }: Provisioning,
): boolean {
  const asked = claim.spec?.resources?.requests?.['storage']
  if (asked === undefined) return true
  if (csiDriver(storageClass.provisioner)?.spec?.storageCapacity !== true) return true
  const size = parseQuantity(String(asked))
  return storageCapacities().some((each) => {
    if (each.storageClassName !== storageClass.metadata.name) return false
    const limit = limitOf(each)
    if (limit === undefined || compareQuantities(parseQuantity(limit), size) < 0) return false
    return (
      each.nodeTopology !== undefined && labelSelectorOf(each.nodeTopology).matches(node.labels)
    )
  })
}

/** Returns the size of the largest possible volume if known, otherwise the whole capacity. */
function limitOf({ maximumVolumeSize, capacity }: CSIStorageCapacity): string | undefined {
  const limit = maximumVolumeSize ?? capacity
  return limit === undefined ? undefined : String(limit)
}
