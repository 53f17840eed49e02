import type { OwnerReference } from '@skerry/api'
import type { PartialObject, ResourceRef } from '@skerry/client'

export const orphanFinalizer = 'orphan'
export const foregroundFinalizer = 'foregroundDeletion'

/** One object of the cluster, reduced to what owning and deleting need. */
export interface GraphNode {
  readonly uid: string
  readonly resource: ResourceRef
  readonly apiVersion: string
  readonly kind: string
  /** The namespace; empty for cluster-scoped objects. */
  readonly namespace: string
  readonly name: string
  readonly owners: readonly OwnerReference[]
  readonly isBeingDeleted: boolean
  readonly finalizers: readonly string[]
}

export function nodeOf(object: PartialObject, resource: ResourceRef): GraphNode {
  const { uid = '', name = '', namespace = '', deletionTimestamp } = object.metadata
  return {
    uid,
    resource,
    apiVersion: object.apiVersion,
    kind: object.kind,
    namespace,
    name,
    owners: object.metadata.ownerReferences ?? [],
    isBeingDeleted: deletionTimestamp !== undefined,
    finalizers: object.metadata.finalizers ?? [],
  }
}

/** Returns true if the node waits for all dependents that block it. */
export function isDeletingDependents(node: GraphNode): boolean {
  return node.isBeingDeleted && node.finalizers.includes(foregroundFinalizer)
}

/** Returns true if the node waits until all dependents have dropped their reference to it. */
export function isOrphaning(node: GraphNode): boolean {
  return node.isBeingDeleted && node.finalizers.includes(orphanFinalizer)
}

/**
 * Records which object owns which, by uid. Each change returns the uids that must be checked
 * because of it.
 */
export class OwnerGraph {
  readonly #nodes = new Map<string, GraphNode>()
  readonly #dependents = new Map<string, Set<string>>()

  get size(): number {
    return this.#nodes.size
  }

  get(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid)
  }

  nodes(): IterableIterator<GraphNode> {
    return this.#nodes.values()
  }

  dependentsOf(uid: string): GraphNode[] {
    return [...(this.#dependents.get(uid) ?? [])].flatMap((each) => this.#nodes.get(each) ?? [])
  }

  /** Returns the dependents that block an owner that is deleting its dependents. */
  blockingDependentsOf(uid: string): GraphNode[] {
    return this.dependentsOf(uid).filter((node) =>
      node.owners.some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true),
    )
  }

  put(node: GraphNode): string[] {
    const before = this.#nodes.get(node.uid)
    this.#nodes.set(node.uid, node)
    for (const owner of before?.owners ?? []) this.#unlink(owner.uid, node.uid)
    for (const owner of node.owners) this.#link(owner.uid, node.uid)
    const affected = this.#waitingOwners(before?.owners ?? [])
    if (isDeletingDependents(node)) {
      affected.push(node.uid, ...this.dependentsOf(node.uid).map(({ uid }) => uid))
    }
    if (isOrphaning(node) || !this.hasKnownOwners(node)) affected.push(node.uid)
    return affected
  }

  remove(uid: string): string[] {
    const node = this.#nodes.get(uid)
    if (!node) return []
    this.#nodes.delete(uid)
    for (const owner of node.owners) this.#unlink(owner.uid, uid)
    return [...this.#waitingOwners(node.owners), ...(this.#dependents.get(uid) ?? [])]
  }

  /** Returns false if some owner is not in the graph where the reference points, or is being deleted. */
  hasKnownOwners(node: GraphNode): boolean {
    return node.owners.every((reference) => {
      const owner = this.#nodes.get(reference.uid)
      return (
        owner !== undefined &&
        owner.kind === reference.kind &&
        owner.name === reference.name &&
        (owner.namespace === '' || owner.namespace === node.namespace) &&
        !isDeletingDependents(owner)
      )
    })
  }

  #waitingOwners(owners: readonly OwnerReference[]): string[] {
    return owners.flatMap(({ uid }) => {
      const owner = this.#nodes.get(uid)
      return owner && isDeletingDependents(owner) ? [uid] : []
    })
  }

  #link(owner: string, dependent: string): void {
    const known = this.#dependents.get(owner)
    if (known) known.add(dependent)
    else this.#dependents.set(owner, new Set([dependent]))
  }

  #unlink(owner: string, dependent: string): void {
    const known = this.#dependents.get(owner)
    known?.delete(dependent)
    if (known?.size === 0) this.#dependents.delete(owner)
  }
}
