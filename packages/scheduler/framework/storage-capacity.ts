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
 * Whether the class's driver has told of room for the claim where the node reaches it (KEP-1472). One
 * that tells nothing of its room is taken to have enough.
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

/** The largest volume that can be made, where that is known, else all the room that there is. */
function limitOf({ maximumVolumeSize, capacity }: CSIStorageCapacity): string | undefined {
  const limit = maximumVolumeSize ?? capacity
  return limit === undefined ? undefined : String(limit)
}
