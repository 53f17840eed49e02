import type { Node } from '@skerry/api'
import { add, amountsOf, subtract, type PodInfo, type Resources } from './pod-info.ts'

/** A node and its pods, including assumed ones. Updates the sums as pods come and go. */
export class NodeInfo {
  readonly name: string
  #node: Node | undefined
  #allocatable: Resources = new Map()
  readonly #pods = new Map<string, PodInfo>()
  readonly #podsWithAffinity = new Map<string, PodInfo>()
  readonly #requested = new Map<string, number>()
  readonly #scoredRequested = new Map<string, number>()

  constructor(name: string) {
    this.name = name
  }

  /** The node object. A NodeInfo without one only keeps pods whose node has not been seen yet. */
  get node(): Node | undefined {
    return this.#node
  }

  get labels(): Readonly<Record<string, string>> {
    return this.#node?.metadata.labels ?? {}
  }

  get allocatable(): Resources {
    return this.#allocatable
  }

  get requested(): Resources {
    return this.#requested
  }

  get scoredRequested(): Resources {
    return this.#scoredRequested
  }

  get pods(): ReadonlyMap<string, PodInfo> {
    return this.#pods
  }

  /** The pods with an affinity or anti-affinity to other pods. */
  get podsWithAffinity(): ReadonlyMap<string, PodInfo> {
    return this.#podsWithAffinity
  }

  setNode(node: Node | undefined): void {
    this.#node = node
    this.#allocatable = amountsOf(node?.status?.allocatable ?? node?.status?.capacity ?? {})
  }

  putPod(pod: PodInfo): void {
    this.removePod(pod.uid)
    this.#pods.set(pod.uid, pod)
    if (pod.hasAffinity) this.#podsWithAffinity.set(pod.uid, pod)
    add(this.#requested, pod.requests)
    add(this.#scoredRequested, pod.scoredRequests)
  }

  removePod(uid: string): void {
    const pod = this.#pods.get(uid)
    if (pod === undefined) return
    this.#pods.delete(uid)
    this.#podsWithAffinity.delete(uid)
    subtract(this.#requested, pod.requests)
    subtract(this.#scoredRequested, pod.scoredRequests)
  }

  /** Returns a copy to try other sets of pods on. */
  copy(): NodeInfo {
    const copy = new NodeInfo(this.name)
    copy.#node = this.#node
    copy.#allocatable = this.#allocatable
    for (const pod of this.#pods.values()) copy.putPod(pod)
    return copy
  }
}
