import type { AnyObject, Lease } from '@skerry/api'
import type { Objects } from '@skerry/apiserver'
import { createWakeFlag, type Clock } from '@skerry/base'
import { clusterNamespace, clusterResource, parentOf, type Cluster } from '@skerry/fleet-kinds'
import { edgeClusterResource, type EdgeCluster } from '@skerry/provisioning'
import { consoleBounds } from '../limits-table.ts'
import { fleetRow } from './fleet-row.ts'

/** The row of one cluster, and its JSON, which all readers share. */
export interface BoardRow {
  readonly name: string
  readonly text: string
  /** The step in which it last changed. */
  readonly step: number
}

/** The tunnels of a cluster as they are now. */
export interface ClusterLink {
  readonly tunnels: number
  readonly lastEnd: string | undefined
}

export interface FleetBoardDeps {
  readonly objects: Objects
  readonly linkOf: (cluster: string) => ClusterLink
  readonly clock: Pick<Clock, 'sleep'>
}

const { stepMs } = consoleBounds.fleetBoard
const leases = Object.freeze({ group: 'coordination.k8s.io', resource: 'leases' })

/**
 * The rows of all clusters, computed once for all readers, at most once a second and only while somebody reads. A
 * cluster is described again only if its object or its tunnels have changed.
 */
export class FleetBoard {
  readonly #deps: FleetBoardDeps
  readonly #rows = new Map<string, BoardRow>()
  readonly #keys = new Map<string, readonly unknown[]>()
  readonly #listeners = new Set<() => void>()
  readonly #isRead = createWakeFlag()
  #step = 0
  #namesStep = 0

  constructor(deps: FleetBoardDeps) {
    this.#deps = deps
  }

  get rows(): ReadonlyMap<string, BoardRow> {
    return this.#rows
  }

  /** The number of steps that changed something. */
  get step(): number {
    return this.#step
  }

  /** The step in which a cluster came or went last. */
  get namesStep(): number {
    return this.#namesStep
  }

  /** Brings the rows up to date. */
  refresh(): void {
    const { objects } = this.#deps
    const edges = edgeClustersOf(objects.list(edgeClusterResource))
    const names = new Set<string>()
    const step = this.#step + 1
    const before = this.#rows.size
    let isChanged = false
    for (const object of objects.list(clusterResource)) {
      const { name = '' } = object.metadata
      names.add(name)
      if (this.#describe(object, edges.get(name), step)) isChanged = true
    }
    if (this.#rows.size > before) this.#namesStep = step
    for (const name of this.#rows.keys()) {
      if (names.has(name)) continue
      this.#namesStep = step
      this.#rows.delete(name)
      this.#keys.delete(name)
      isChanged = true
    }
    if (isChanged) this.#step = step
  }

  /** Calls `onStep` after each step that changed something, until it is disposed of. */
  follow(onStep: () => void): Disposable {
    this.#listeners.add(onStep)
    this.#isRead.raise()
    return { [Symbol.dispose]: () => void this.#listeners.delete(onStep) }
  }

  /** Refreshes while anybody follows. */
  async run(signal: AbortSignal): Promise<never> {
    for (;;) {
      if (this.#listeners.size === 0) await this.#isRead.wait(signal)
      await this.#deps.clock.sleep(stepMs, signal)
      const before = this.#step
      this.refresh()
      if (this.#step === before) continue
      for (const listener of this.#listeners) listener()
    }
  }

  /** Reports whether the row is another one than before. */
  #describe(object: AnyObject, edgeCluster: EdgeCluster | undefined, step: number): boolean {
    // The registry keeps only what was decoded as this kind.
    const cluster = object as unknown as Cluster
    const { name = '' } = cluster.metadata
    const link = this.#deps.linkOf(parentOf(cluster) ?? name)
    const key = [object, edgeCluster, link.tunnels, link.lastEnd]
    const known = this.#keys.get(name)
    if (known?.every((part, at) => part === key[at]) === true) return false
    this.#keys.set(name, key)
    // Renewed every few seconds, it is read only when something else has changed.
    const lease = this.#deps.objects.get(leases, clusterNamespace, name) as unknown as Lease
    const text = JSON.stringify(fleetRow({ cluster, edgeCluster, lease, ...link }))
    if (this.#rows.get(name)?.text === text) return false
    this.#rows.set(name, { name, text, step })
    return true
  }
}

function edgeClustersOf(objects: readonly AnyObject[]): Map<string, EdgeCluster> {
  // The registry keeps only what was decoded as this kind.
  const edges = objects as unknown as readonly EdgeCluster[]
  return new Map(
    edges.flatMap((edge): [string, EdgeCluster][] => {
      const name = edge.status?.clusterName
      return name === undefined ? [] : [[name, edge]]
    }),
  )
}
