import { asError } from '@skerry/base'
import type { Pod } from '@skerry/api'
import { childCgroups, removeCgroup } from '../containerd/cgroups.ts'
import type { NodeContext } from './node-context.ts'
import {
  refuseResize,
  rejectPod,
  type AdmissionInput,
  type Rejection,
} from '../resources/admit-pod.ts'
import { isMirror } from '../static-pods/static-pod-marks.ts'
import type { NodeStore } from '../store/node-store.ts'
import { removePodDirectories } from '../volumes/pod-volumes.ts'
import { nodeCgroup } from './container-config.ts'
import { podDirectoriesOf, podDirectory, podLogDirectory } from '../pod/pod-paths.ts'
import { PodWorker } from './pod-worker.ts'
import { runtimeLabels } from './runtime-labels.ts'
import { TaskGroup } from '../task-group.ts'
import { kubeletBounds } from '../limits-table.ts'

/** Finds pods for the servers of logs, exec and statistics. */
export interface PodDirectory {
  list(): Pod[]
  /** The pod as the node runs it, with its newest status. */
  find(namespace: string, name: string): Pod | undefined
  /** Returns the folder of the container logs, with `<container>/<restart count>.log` below it. */
  logDirectory(pod: Pod): string
  dataDirectory(pod: Pod): string
}

const { orphanRetryMs } = kubeletBounds.podSet

/** Keeps one worker for each pod that the node knows, and wakes it when something of its pod changes. */
export class PodSet implements PodDirectory, AsyncDisposable {
  readonly #context: NodeContext
  readonly #store: NodeStore
  readonly #workers = new Map<string, PodWorker>()
  readonly #tasks: TaskGroup
  readonly #signal: AbortSignal
  #mayEndOrphans = false

  constructor(context: NodeContext, store: NodeStore, signal: AbortSignal) {
    this.#context = context
    this.#store = store
    this.#signal = signal
    this.#tasks = new TaskGroup(signal, (name, error) => {
      context.log.error('Pod worker failed', { uid: name, error: asError(error) })
    })
  }

  list(): Pod[] {
    return [...this.#workers.values()].map((worker) => this.#withStatus(worker.pod))
  }

  find(namespace: string, name: string): Pod | undefined {
    const found = [...this.#workers.values()].filter(
      ({ pod }) => pod.metadata.namespace === namespace && pod.metadata.name === name,
    )
    // A pod that is ending may still exist next to its successor.
    const worker = found.find(({ isTerminating }) => !isTerminating) ?? found.at(-1)
    return worker && this.#withStatus(worker.pod)
  }

  logDirectory(pod: Pod): string {
    return podLogDirectory(this.#context.config, pod)
  }

  dataDirectory(pod: Pod): string {
    return podDirectory(this.#context.config, pod.metadata.uid ?? '')
  }

  evict(uid: string, failure: { reason: string; message: string }, graceSeconds: number): void {
    this.#workers.get(uid)?.evict(failure, graceSeconds)
  }

  /** Wakes all workers after a change that concerns every pod. */
  wakeAll(): void {
    for (const worker of this.#workers.values()) worker.wake()
  }

  async run(): Promise<void> {
    using _pods = this.#store.onPod(({ type, pod }) => {
      if (isMirror(pod)) return
      if (type === 'set') this.set(pod)
      else this.remove(pod)
    })
    using _objects = this.#store.onObject((uids) => {
      for (const uid of uids) this.#workers.get(uid)?.refreshVolumes()
    })
    using _observed = this.#context.observer.onChange((uid) => {
      const worker = this.#workers.get(uid)
      if (worker) worker.wake()
      else this.#adoptOrphan(uid)
    })
    for (const pod of this.#store.list().filter((one) => !isMirror(one))) this.set(pod)
    await this.#tasks.untilAborted()
  }

  set(pod: Pod): void {
    const uid = pod.metadata.uid ?? ''
    const known = this.#workers.get(uid)
    if (known) return known.update(pod)
    const worker = this.#newWorker(pod)
    const rejection = this.#reject(pod)
    if (rejection) worker.evict(rejection, 0)
    this.#add(uid, worker)
  }

  remove(pod: Pod): void {
    this.#workers.get(pod.metadata.uid ?? '')?.remove(pod)
  }

  /**
   * Ends what the runtime or the disk has of unwanted pods, once the API has been read and every other source
   * of pods is `ready`.
   */
  async endOrphans(ready: Promise<void>, signal: AbortSignal): Promise<void> {
    const { observer, clock, log } = this.#context
    await ready
    await this.#store.whenSynced(signal)
    this.#mayEndOrphans = true
    for (;;) {
      try {
        await observer.relist()
        for (const uid of observer.podUids()) this.#adoptOrphan(uid)
        return await this.#removeLeftovers(signal)
      } catch (error) {
        signal.throwIfAborted()
        log.debug('Orphans not looked for', { error: asError(error) })
        await clock.sleep(orphanRetryMs, signal)
      }
    }
  }

  /** Removes directories and cgroups of pods that a crash left behind. */
  async #removeLeftovers(signal: AbortSignal): Promise<void> {
    const { config, cgroups, csi } = this.#context
    const failures: unknown[] = []
    for (const uid of await podDirectoriesOf(config)) {
      if (this.#workers.has(uid)) continue
      try {
        await removePodDirectories({ directories: config, csi }, uid, signal)
      } catch (error) {
        // A driver that has not come back yet holds up only its own pods.
        signal.throwIfAborted()
        failures.push(error)
      }
    }
    const parent = nodeCgroup(config.nodeName)
    for (const name of await childCgroups(cgroups, parent)) {
      if (!this.#workers.has(name.replace(/^pod/, ''))) {
        await removeCgroup(cgroups, `${parent}/${name}`)
      }
    }
    if (failures.length > 0) throw failures[0]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tasks[Symbol.asyncDispose]()
  }

  #add(uid: string, worker: PodWorker): void {
    this.#workers.set(uid, worker)
    this.#tasks.add(uid, async (scope) => {
      try {
        await worker.run(scope)
      } finally {
        this.#workers.delete(uid)
      }
    })
  }

  /** Rejects only a pod that has not started: one that runs keeps its place. */
  #reject(pod: Pod): { reason: string; message: string } | undefined {
    if (pod.status?.startTime || pod.metadata.deletionTimestamp) return undefined
    const others = [...this.#workers.values()].filter(({ isTerminating }) => !isTerminating)
    return rejectPod(this.#admission(pod, others))
  }

  #refuseResize(pod: Pod): Rejection | undefined {
    const others = [...this.#workers.values()].filter(
      (worker) => !worker.isTerminating && worker.pod.metadata.uid !== pod.metadata.uid,
    )
    return refuseResize(this.#admission(pod, others))
  }

  #admission(pod: Pod, others: readonly PodWorker[]): AdmissionInput {
    return {
      pod,
      others: others.map((worker) => worker.pod),
      allocatable: this.#context.facts.allocatable,
      podsMax: this.#context.config.registration.podsMax,
    }
  }

  #newWorker(pod: Pod): PodWorker {
    return new PodWorker(this.#context, pod, (resized) => this.#refuseResize(resized))
  }

  /** A pod that only the runtime has. */
  #adoptOrphan(uid: string): void {
    if (!this.#mayEndOrphans || this.#workers.has(uid) || this.#signal.aborted) return
    const labels = this.#context.observer.labelsOf(uid)
    const name = labels[runtimeLabels.podName]
    const namespace = labels[runtimeLabels.podNamespace]
    if (name === undefined || namespace === undefined) return
    this.#context.log.info('Ending an unknown pod', { namespace, pod: name, uid })
    const pod: Pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace, uid },
      spec: { containers: [] },
    }
    const worker = this.#newWorker(pod)
    this.#add(uid, worker)
    worker.remove(pod)
  }

  #withStatus(pod: Pod): Pod {
    const status = this.#context.statuses.get(pod.metadata.uid ?? '')
    return status ? { ...pod, status } : pod
  }
}
