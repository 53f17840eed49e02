import type { Node, Pod } from '@skerry/api'
import { NodeInfo } from './node-info.ts'
import { podInfoOf, type PodInfo } from './pod-info.ts'

/**
 * Nodes with the pods on them. A pod that was just bound is assumed on its node until the watch
 * says so, so that the next decision does not give its room away.
 */
export class ClusterState {
  readonly #nodes = new Map<string, NodeInfo>()
  readonly #nodeOfPod = new Map<string, string>()

  /** Only nodes whose object is known; in name order, so that a replay decides alike. */
  nodes(): NodeInfo[] {
    return [...this.#nodes.values()]
      .filter((each) => each.node !== undefined)
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  }

  node(name: string): NodeInfo | undefined {
    const info = this.#nodes.get(name)
    return info?.node === undefined ? undefined : info
  }

  setNode(node: Node): void {
    this.#infoOf(node.metadata.name ?? '').setNode(node)
  }

  removeNode(name: string): void {
    const info = this.#nodes.get(name)
    if (info === undefined) return
    info.setNode(undefined)
    if (info.pods.size === 0) this.#nodes.delete(name)
  }

  /** A finished pod holds nothing any more. */
  setPod(pod: Pod): void {
    const nodeName = pod.spec?.nodeName ?? ''
    const phase = pod.status?.phase
    if (nodeName === '' || phase === 'Succeeded' || phase === 'Failed')
      this.removePod(pod.metadata.uid ?? '')
    else this.assume(podInfoOf(pod), nodeName)
  }

  assume(pod: PodInfo, nodeName: string): void {
    if (this.#nodeOfPod.get(pod.uid) !== nodeName) this.removePod(pod.uid)
    this.#infoOf(nodeName).putPod(pod)
    this.#nodeOfPod.set(pod.uid, nodeName)
  }

  removePod(uid: string): void {
    const nodeName = this.#nodeOfPod.get(uid)
    if (nodeName === undefined) return
    this.#nodeOfPod.delete(uid)
    const info = this.#nodes.get(nodeName)
    info?.removePod(uid)
    if (info?.node === undefined && info?.pods.size === 0) this.#nodes.delete(nodeName)
  }

  #infoOf(name: string): NodeInfo {
    const known = this.#nodes.get(name)
    if (known !== undefined) return known
    const info = new NodeInfo(name)
    this.#nodes.set(name, info)
    return info
  }
}
