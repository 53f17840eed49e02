import type { Node, Pod } from '@skerry/api'
import { NodeInfo } from './framework/node-info.ts'
import { podInfoOf, type PodInfo } from './framework/pod-info.ts'

/**
 * Holds nodes with their pods. A pod that was just bound is assumed on its node until the watch
 * confirms it, so that the next decision does not give its room away. It also holds nominated pods:
 * preemption makes room for them on a node, which others must not take.
 */
export class ClusterState {
  readonly #nodes = new Map<string, NodeInfo>()
  readonly #nodeOfPod = new Map<string, string>()
  readonly #assumed = new Set<string>()
  readonly #nominees = new Map<string, { nodeName: string; pod: PodInfo }>()
  #sorted: NodeInfo[] | undefined

  /** Returns only nodes whose object is known, by name, so that a replay decides alike. */
  nodes(): readonly NodeInfo[] {
    this.#sorted ??= [...this.#nodes.values()]
      .filter((each) => each.node !== undefined)
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    return this.#sorted
  }

  node(name: string): NodeInfo | undefined {
    const info = this.#nodes.get(name)
    return info?.node === undefined ? undefined : info
  }

  setNode(node: Node): void {
    const info = this.#infoOf(node.metadata.name ?? '')
    if (info.node === undefined) this.#sorted = undefined
    info.setNode(node)
  }

  removeNode(name: string): void {
    const info = this.#nodes.get(name)
    if (info === undefined) return
    this.#sorted = undefined
    info.setNode(undefined)
    if (info.pods.size === 0) this.#nodes.delete(name)
  }

  /** A finished pod holds nothing any more; an assumed one holds its place. */
  setPod(pod: Pod): void {
    const uid = pod.metadata.uid ?? ''
    const nodeName = pod.spec?.nodeName ?? ''
    const phase = pod.status?.phase
    if (phase === 'Succeeded' || phase === 'Failed') this.removePod(uid)
    else if (nodeName !== '') this.#put(podInfoOf(pod), nodeName)
    else if (!this.#assumed.has(uid)) this.removePod(uid)
    if (nodeName !== '') this.#assumed.delete(uid)
  }

  assume(pod: PodInfo, nodeName: string): void {
    this.#put(pod, nodeName)
    this.#assumed.add(pod.uid)
  }

  removePod(uid: string): void {
    this.#assumed.delete(uid)
    const nodeName = this.#nodeOfPod.get(uid)
    if (nodeName === undefined) return
    this.#nodeOfPod.delete(uid)
    const info = this.#nodes.get(nodeName)
    info?.removePod(uid)
    if (info?.node === undefined && info?.pods.size === 0) this.#nodes.delete(nodeName)
  }

  /** An empty name revokes the nomination. */
  nominate(pod: PodInfo, nodeName: string): void {
    if (nodeName === '') this.#nominees.delete(pod.uid)
    else this.#nominees.set(pod.uid, { nodeName, pod })
  }

  denominate(uid: string): void {
    this.#nominees.delete(uid)
  }

  nominationOf(uid: string): string {
    return this.#nominees.get(uid)?.nodeName ?? ''
  }

  nominatedOn(nodeName: string): readonly PodInfo[] {
    if (this.#nominees.size === 0) return []
    return [...this.#nominees.values()]
      .filter((each) => each.nodeName === nodeName)
      .map(({ pod }) => pod)
  }

  #put(pod: PodInfo, nodeName: string): void {
    if (this.#nodeOfPod.get(pod.uid) !== nodeName) this.removePod(pod.uid)
    this.#infoOf(nodeName).putPod(pod)
    this.#nodeOfPod.set(pod.uid, nodeName)
  }

  #infoOf(name: string): NodeInfo {
    const known = this.#nodes.get(name)
    if (known !== undefined) return known
    const info = new NodeInfo(name)
    this.#nodes.set(name, info)
    return info
  }
}
