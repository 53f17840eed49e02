import type { Replica, ReplicaDirectory } from '@skerry/gateway'
import type { HubReplica } from '@skerry/tunnel'

/**
 * The replicas of this hub, as this one knows them. It knows none until it has joined them, which takes an address
 * where it listens; alone it never does.
 */
export class JoinedReplicas {
  #directory: ReplicaDirectory | undefined
  #id = ''

  join(directory: ReplicaDirectory, id: string): void {
    this.#directory = directory
    this.#id = id
  }

  /** This replica; undefined until it has joined. */
  self(): HubReplica | undefined {
    return this.#directory && { id: this.#id, count: this.#directory.others.size + 1 }
  }

  /** Replicas where tunnels of this cluster end. */
  holders(cluster: string): readonly string[] {
    return this.#directory?.holders(cluster) ?? []
  }

  /** Clusters with a tunnel that ends at this replica. */
  heldBy(id: string): readonly string[] {
    return this.#directory?.heldBy(id) ?? []
  }

  lastEnd(cluster: string): ReturnType<ReplicaDirectory['lastEnd']> {
    return this.#directory?.lastEnd(cluster)
  }

  async find(id: string): Promise<Replica | undefined> {
    return this.#directory?.find(id)
  }

  setHeld(cluster: string, isHeld: boolean, reason: string | undefined): void {
    this.#directory?.setHeld(cluster, isHeld, reason)
  }
}
