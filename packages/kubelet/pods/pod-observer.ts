import { asError, runAll, type Clock, type Logger } from '@skerry/base'
import {
  isRuntimeError,
  type Container,
  type ContainerRuntime,
  type ContainerStatus,
  type PodSandbox,
} from '../cri/container-runtime.ts'
import {
  nothingObserved,
  type ComputeResources,
  type ObservedContainer,
  type ObservedPod,
  type ObservedSandbox,
  type ObservedState,
} from '../pod/observed-pod.ts'
import type { PodNetwork } from './pod-network.ts'
import { runtimeAnnotations, runtimeLabels } from './runtime-labels.ts'
import { terminationMessage } from './termination-message.ts'
import { observerDefaults } from '../limits-table.ts'

export interface PodObserverDeps {
  runtime: ContainerRuntime
  clock: Clock
  log: Logger
  /** The boot that runs now. */
  bootId: string
  network: Pick<PodNetwork, 'hasLost'>
}

/** A sandbox that runs, and where its cable ends on the node. */
export interface NetworkedSandbox {
  id: string
  ips: readonly string[]
  hostLink: string
}

/** The runtime's list of one pod, and a text that changes when something in it does. */
interface Listed {
  sandboxes: PodSandbox[]
  containers: Container[]
  signature: string
}

/**
 * Watches the runtime: reports which pods changed, and reads one pod in detail. Details of a final state are
 * read once.
 */
export class PodObserver {
  readonly #deps: PodObserverDeps
  readonly #listeners = new Set<(uid: string) => void>()
  readonly #details = new Map<string, ObservedContainer>()
  readonly #sandboxes = new Map<string, ObservedSandbox>()
  /** The monotonic time since which a sandbox cannot be inspected. */
  readonly #failures = new Map<string, number>()
  #pods = new Map<string, Listed>()
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined
  #lastRelistMs: number | undefined

  readonly #signal: AbortSignal

  /** Takes the observer's own signal: a relist that several callers share must not end with one of them. */
  constructor(deps: PodObserverDeps, signal: AbortSignal) {
    this.#deps = deps
    this.#signal = signal
  }

  /** The monotonic time of the last complete relist; undefined before the first. */
  get lastRelistMs(): number | undefined {
    return this.#lastRelistMs
  }

  /** Calls the listener with the uid of each pod whose sandboxes or containers changed state. */
  onChange(listener: (uid: string) => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  /** Returns the pods of which the runtime has anything, known to the API or not. */
  podUids(): string[] {
    return [...this.#pods.keys()]
  }

  /** Name and namespace of a pod that only the runtime knows. */
  labelsOf(uid: string): Readonly<Record<string, string>> {
    const listed = this.#pods.get(uid)
    return listed?.sandboxes[0]?.labels ?? listed?.containers[0]?.labels ?? {}
  }

  async run(): Promise<void> {
    await runAll(this.#signal, [(scope) => this.#poll(scope), (scope) => this.#subscribe(scope)])
  }

  /** Resolves with the pod's present state: the lists are read after the call. */
  async observe(uid: string, signal: AbortSignal): Promise<ObservedPod> {
    await this.relist()
    signal.throwIfAborted()
    const listed = this.#pods.get(uid)
    if (!listed) return nothingObserved
    const sandboxes: ObservedSandbox[] = []
    for (const sandbox of listed.sandboxes) {
      sandboxes.push(await this.#observeSandbox(sandbox, signal))
    }
    const dead = new Set(
      listed.sandboxes.filter((sandbox) => this.#isOfFormerBoot(sandbox)).map(({ id }) => id),
    )
    const containers: ObservedContainer[] = []
    for (const container of listed.containers) {
      const observed = await this.#observeContainer(container, signal)
      if (observed) containers.push(dead.has(observed.sandboxId) ? asDead(observed) : observed)
    }
    return { sandboxes, containers }
  }

  /** Returns every running sandbox with its own network that can be inspected. */
  async networked(signal: AbortSignal): Promise<NetworkedSandbox[]> {
    await this.relist()
    const found: NetworkedSandbox[] = []
    for (const { sandboxes } of this.#pods.values()) {
      for (const sandbox of sandboxes.filter(({ state }) => state === 'SANDBOX_READY')) {
        // Its pod's worker sees the same failure, and acts on it.
        const seen = await this.#observeSandbox(sandbox, signal).catch(() => undefined)
        if (!seen?.isReady || seen.isHostNetwork) continue
        const { id, ips, hostLink = '' } = this.#sandboxes.get(sandbox.id) ?? seen
        if (ips.length > 0) found.push({ id, ips, hostLink })
      }
    }
    return found
  }

  /** Lists again. Callers during a relist share the next one. */
  relist(): Promise<void> {
    if (this.#next) return this.#next
    const start = (): Promise<void> => {
      this.#next = undefined
      this.#running = this.#relistNow().finally(() => {
        this.#running = undefined
      })
      return this.#running
    }
    if (!this.#running) return start()
    this.#next = this.#running.then(start, start)
    return this.#next
  }

  async #poll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.relist()
      } catch (error) {
        if (signal.aborted) throw error
        this.#deps.log.debug('Relist failed', { error: asError(error) })
      }
      await this.#deps.clock.sleep(observerDefaults.relistMs, signal)
    }
  }

  async #subscribe(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#deps.runtime.watchExits(() => this.#onExit(), signal)
      } catch (error) {
        if (signal.aborted) throw error
        this.#deps.log.debug('Exit subscription ended', { error: asError(error) })
      }
      await this.#deps.clock.sleep(observerDefaults.resubscribeMs, signal)
    }
  }

  #onExit(): void {
    // A failed list here is repeated by the poll a moment later.
    this.relist().catch((error: unknown) => {
      if (!this.#signal.aborted) this.#deps.log.debug('Relist failed', { error: asError(error) })
    })
  }

  async #relistNow(): Promise<void> {
    const { runtime, clock } = this.#deps
    const sandboxes = await runtime.listPodSandboxes(this.#signal)
    const containers = await runtime.listContainers(this.#signal)
    const before = this.#pods
    this.#pods = groupByPod(sandboxes, containers)
    this.#lastRelistMs = clock.monotonicMs()
    this.#forget(sandboxes, containers)
    const uids = new Set([...before.keys(), ...this.#pods.keys()])
    for (const uid of uids) {
      if (before.get(uid)?.signature === this.#pods.get(uid)?.signature) continue
      for (const listener of this.#listeners) listener(uid)
    }
  }

  #forget(sandboxes: readonly PodSandbox[], containers: readonly Container[]): void {
    const ids = new Set([...sandboxes, ...containers].map(({ id }) => id))
    for (const known of [this.#details, this.#sandboxes, this.#failures]) {
      for (const id of known.keys()) if (!ids.has(id)) known.delete(id)
    }
  }

  #isOfFormerBoot(sandbox: PodSandbox): boolean {
    return sandbox.annotations[runtimeAnnotations.bootId] !== this.#deps.bootId
  }

  async #observeSandbox(sandbox: PodSandbox, signal: AbortSignal): Promise<ObservedSandbox> {
    const isReady = sandbox.state === 'SANDBOX_READY' && !this.#isOfFormerBoot(sandbox)
    const known = this.#sandboxes.get(sandbox.id)
    const isHostNetwork = sandbox.annotations[runtimeAnnotations.hostNetwork] === 'true'
    if (known && this.#deps.network.hasLost(sandbox.id)) return { ...known, isReady, ips: [] }
    if (known?.isReady === isReady && (known.ips.length > 0 || isHostNetwork)) return known
    const place = known ?? (await this.#inspect(sandbox, isReady, signal))
    const observed: ObservedSandbox = {
      id: sandbox.id,
      attempt: sandbox.metadata.attempt,
      isReady,
      createdAtMs: sandbox.createdAt / 1e6,
      ips: place.ips,
      hostLink: place.hostLink ?? '',
      isHostNetwork,
    }
    if (!this.#failures.has(sandbox.id)) this.#sandboxes.set(sandbox.id, observed)
    return observed
  }

  /** Returns no addresses for a sandbox that has ended or cannot be inspected for long. */
  async #inspect(
    { id }: PodSandbox,
    isReady: boolean,
    signal: AbortSignal,
  ): Promise<Pick<ObservedSandbox, 'ips' | 'hostLink'>> {
    try {
      const place = await this.#deps.runtime.podSandboxStatus(id, signal)
      this.#failures.delete(id)
      return place
    } catch (error) {
      if (isRuntimeError(error, 'NotFound')) return { ips: [] }
      if (!isRuntimeError(error, 'Unknown')) throw error
      const nowMs = this.#deps.clock.monotonicMs()
      const sinceMs = this.#failures.get(id) ?? nowMs
      this.#failures.set(id, sinceMs)
      if (isReady && nowMs - sinceMs < observerDefaults.inspectPatienceMs) throw error
      return { ips: [] }
    }
  }

  /** Resolves undefined if the container was removed since it was listed. */
  async #observeContainer(
    container: Container,
    signal: AbortSignal,
  ): Promise<ObservedContainer | undefined> {
    const known = this.#details.get(container.id)
    if (known && known.state === stateOf(container.state) && known.state !== 'created') return known
    try {
      const status = await this.#deps.runtime.containerStatus(container.id, signal)
      const isOver = status.state === 'CONTAINER_EXITED'
      const message = isOver ? await terminationMessage(status) : ''
      const observed = toObserved(container, status, message)
      this.#details.set(container.id, observed)
      return observed
    } catch (error) {
      if (isRuntimeError(error, 'NotFound')) return undefined
      throw error
    }
  }
}

function groupByPod(
  sandboxes: readonly PodSandbox[],
  containers: readonly Container[],
): Map<string, Listed> {
  const pods = new Map<string, Listed>()
  const entry = (uid: string): Listed => {
    const found = pods.get(uid) ?? { sandboxes: [], containers: [], signature: '' }
    pods.set(uid, found)
    return found
  }
  for (const sandbox of sandboxes) entry(sandbox.metadata.uid).sandboxes.push(sandbox)
  for (const container of containers) {
    entry(container.labels[runtimeLabels.podUid] ?? '').containers.push(container)
  }
  pods.delete('')
  for (const listed of pods.values()) {
    listed.sandboxes.sort(newestFirst)
    listed.containers.sort(newestFirst)
    const parts = [...listed.sandboxes, ...listed.containers]
    listed.signature = parts.map(({ id, state }) => `${id}=${state}`).join(' ')
  }
  return pods
}

function newestFirst(one: { createdAt: number }, other: { createdAt: number }): number {
  return other.createdAt - one.createdAt
}

const states: Readonly<Record<Container['state'], ObservedState>> = Object.freeze({
  CONTAINER_CREATED: 'created',
  CONTAINER_RUNNING: 'running',
  CONTAINER_EXITED: 'exited',
  CONTAINER_UNKNOWN: 'unknown',
})

function stateOf(state: Container['state']): ObservedState {
  return states[state]
}

function toObserved(
  container: Container,
  status: ContainerStatus,
  message: string,
): ObservedContainer {
  return {
    id: status.id,
    name: status.labels[runtimeLabels.containerName] ?? status.metadata.name,
    restartCount: Number(status.annotations[runtimeAnnotations.restartCount] ?? 0),
    sandboxId: container.podSandboxId,
    state: stateOf(status.state),
    createdAtMs: status.createdAt / 1e6,
    startedAtMs: status.startedAt / 1e6,
    finishedAtMs: status.finishedAt / 1e6,
    exitCode: status.exitCode,
    reason: status.reason,
    message: message || status.message,
    specHash: status.annotations[runtimeAnnotations.containerHash] ?? '',
    image: status.image.image,
    imageId: status.imageRef,
    ...resourcesIn(status.annotations[runtimeAnnotations.resources]),
  }
}

function resourcesIn(text: string | undefined): Pick<ObservedContainer, 'resources'> {
  if (text === undefined) return {}
  // The annotation is our own, and nobody else can change it: containerd keeps it as given.
  return { resources: JSON.parse(text) as ComputeResources }
}

/** Marks a container as exited: its processes ended with the boot in which it was started. */
function asDead(container: ObservedContainer): ObservedContainer {
  if (container.state === 'exited') return container
  return { ...container, state: 'exited', exitCode: 255, reason: 'Unknown' }
}
