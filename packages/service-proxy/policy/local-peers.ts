import { isDeepStrictEqual } from 'node:util'
import type { Pod } from '@skerry/api'
import { peerOf, type PodPeer } from './pod-peer.ts'

/**
 * The addresses of this node's pods according to its container runtime. They are newer than the
 * API's, which come from there: a pod has an address before the API knows it, and another one after
 * a reboot.
 */
export class LocalPeers {
  readonly #nodeName: string
  readonly #byUid = new Map<string, PodPeer>()

  constructor(nodeName: string) {
    this.#nodeName = nodeName
  }

  /** Returns true if this is a change. */
  place(pod: Pod, address: string): boolean {
    const { name, namespace, uid = '', labels } = pod.metadata
    const placed: PodPeer = {
      ...peerOf(pod),
      metadata: { name, namespace, uid, labels },
      nodeName: this.#nodeName,
      address,
    }
    if (isDeepStrictEqual(this.#byUid.get(uid), placed)) return false
    // A pod that had the address before has lost it.
    for (const [other, peer] of this.#byUid) if (peer.address === address) this.#byUid.delete(other)
    this.#byUid.set(uid, placed)
    return true
  }

  /** Returns true if this is a change. */
  remove(pod: Pod): boolean {
    return this.#byUid.delete(pod.metadata.uid ?? '')
  }

  /** Returns all peers, with the placed pods of this node in place of the API's data about them. */
  over(peers: readonly PodPeer[]): PodPeer[] {
    const placed = [...this.#byUid.values()]
    const names = new Set(placed.map(nameOf))
    const addresses = new Set(placed.map(({ address }) => address))
    const others = peers.filter((peer) => !names.has(nameOf(peer)) && !addresses.has(peer.address))
    return [...others, ...placed]
  }
}

function nameOf({ metadata }: PodPeer): string {
  return `${metadata.namespace}/${metadata.name}`
}
