import type { CSINodeDriver } from '@skerry/api'
import type { DriverInfo } from './csi-driver.ts'

export type ReportedDriver = Pick<DriverInfo, 'nodeId' | 'volumesMax' | 'topology'> & {
  readonly name: string
}

export interface CsiNodeFacts {
  /** The drivers of the CSINode object; none if there is no such object. */
  shown: readonly CSINodeDriver[]
  registered: readonly ReportedDriver[]
  /** Decides whether a driver that is shown and not registered is taken away. */
  isForgotten: (name: string) => boolean
}

/**
 * Plans the writes of the CSINode's list of drivers, one after the other. A driver whose node id or topology changed is
 * taken away first, because the API lets no entry change.
 */
export function planCsiNode({ shown, registered, isForgotten }: CsiNodeFacts): CSINodeDriver[][] {
  const wanted = new Map(registered.map((driver) => [driver.name, entryOf(driver)]))
  const kept = shown.filter(({ name }) => !wanted.has(name) && !isForgotten(name))
  const next = [...kept, ...wanted.values()].toSorted(byName)
  if (isSame(shown.toSorted(byName), next)) return []
  const changed = shown.filter((entry) => {
    const other = wanted.get(entry.name)
    return other !== undefined && !isSame([withoutCount(entry)], [withoutCount(other)])
  })
  if (changed.length === 0) return [next]
  return [shown.filter((entry) => !changed.includes(entry)), next]
}

function byName(one: CSINodeDriver, other: CSINodeDriver): number {
  if (one.name === other.name) return 0
  return one.name < other.name ? -1 : 1
}

function entryOf({ name, nodeId, topology, volumesMax }: ReportedDriver): CSINodeDriver {
  const keys = Object.keys(topology).toSorted()
  return {
    name,
    nodeID: nodeId,
    topologyKeys: keys.length === 0 ? null : keys,
    ...(volumesMax > 0 ? { allocatable: { count: Math.min(volumesMax, int32Max) } } : {}),
  }
}

/** The API has the count as a number of 32 bits. */
const int32Max = 2 ** 31 - 1

function withoutCount({ name, nodeID, topologyKeys }: CSINodeDriver): CSINodeDriver {
  return { name, nodeID, topologyKeys: topologyKeys ?? null }
}

function isSame(some: readonly CSINodeDriver[], others: readonly CSINodeDriver[]): boolean {
  const text = (entries: readonly CSINodeDriver[]): string =>
    JSON.stringify(
      entries.map((entry) => [
        entry.name,
        entry.nodeID,
        (entry.topologyKeys ?? []).toSorted(),
        entry.allocatable?.count ?? null,
      ]),
    )
  return text(some) === text(others)
}
