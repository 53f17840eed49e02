import { readFile, readdir, statfs } from 'node:fs/promises'
import { asError, type Clock, type Logger } from '@skerry/base'
import type { ContainerRuntime, ContainerStats, Image } from '../cri/container-runtime.ts'
import type { ResolvedConfig } from '../kubelet-config.ts'
import { memoryOf } from '../node/node-facts.ts'
import type { NodePressure } from '../node/node-status.ts'
import type { PodSet } from '../pods/pod-set.ts'
import { gracePeriodSeconds } from '../pod/pod-spec.ts'
import { imagesOfVolumes } from '../pods/image-volumes.ts'
import { runtimeLabels } from '../pods/runtime-labels.ts'
import {
  chooseVictim,
  evictionMessage,
  pressures,
  type PodUsage,
  type Pressure,
  type Usage,
} from './eviction.ts'
import { planImageGarbage, type ImageUse } from './image-garbage.ts'
import { evictionDefaults, imageGarbageDefaults } from '../limits-table.ts'

export interface NodePressureDeps {
  runtime: ContainerRuntime
  clock: Clock
  log: Logger
  pods: PodSet
  /** Called when the node's status must be reported at once. */
  onChange: () => void
}

/** Keeps the node from running full: removes unused images, and as a last resort ends a pod. */
export class NodePressureWatch {
  readonly #config: ResolvedConfig
  readonly #deps: NodePressureDeps
  /** The time at which each pressure was last seen, monotonic. */
  readonly #seenMs = new Map<Pressure, number>()
  readonly #images = new Map<string, ImageUse>()
  #collectedMs = -Infinity

  constructor(config: ResolvedConfig, deps: NodePressureDeps) {
    this.#config = config
    this.#deps = deps
  }

  pressure(): NodePressure {
    return { memory: this.#has('memory'), disk: this.#has('disk'), pids: this.#has('pids') }
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#check(signal)
      } catch (error) {
        signal.throwIfAborted()
        this.#deps.log.debug('Pressure not checked', { error: asError(error) })
      }
      await this.#deps.clock.sleep(evictionDefaults.checkMs, signal)
    }
  }

  #has(pressure: Pressure): boolean {
    const seenMs = this.#seenMs.get(pressure)
    if (seenMs === undefined) return false
    return this.#deps.clock.monotonicMs() - seenMs < evictionDefaults.transitionMs
  }

  async #check(signal: AbortSignal): Promise<void> {
    const nowMs = this.#deps.clock.monotonicMs()
    const found = pressures(await readUsage(this.#config.dataDirectory))
    const before = this.pressure()
    for (const pressure of found) this.#seenMs.set(pressure, nowMs)
    const after = this.pressure()
    if (before.memory !== after.memory || before.disk !== after.disk) this.#deps.onChange()
    const isDue = nowMs - this.#collectedMs >= imageGarbageDefaults.checkMs
    if (isDue || found.has('disk')) {
      this.#collectedMs = nowMs
      const removedCount = await this.#collectImages(found.has('disk'), signal)
      // The disk may have room again: look before a pod is ended.
      if (removedCount > 0) return
    }
    for (const pressure of found) await this.#evictOne(pressure, signal)
  }

  async #collectImages(isPressed: boolean, signal: AbortSignal): Promise<number> {
    const { runtime, log } = this.#deps
    const nowMs = this.#deps.clock.monotonicMs()
    const inUse = await this.#namesInUse(signal)
    const images = this.#noteImages(await runtime.listImages(signal), inUse, nowMs)
    const { blocks, bavail, bsize } = await statfs(this.#config.dataDirectory)
    // Under pressure every unused image is removed, whatever share of the disk is in use.
    const usedBlocks = isPressed ? blocks : blocks - bavail
    const garbage = planImageGarbage({
      images,
      inUse,
      disk: { usedBytes: usedBlocks * bsize, capacityBytes: blocks * bsize },
      nowMs,
    })
    for (const { id, repoTags } of garbage) {
      log.info('Removing unused image', { image: repoTags[0] ?? id })
      await runtime.removeImage(id, signal)
    }
    return garbage.length
  }

  /** The sandbox image counts as used: without it no pod can start. */
  async #namesInUse(signal: AbortSignal): Promise<Set<string>> {
    const { runtime, pods } = this.#deps
    const containers = await runtime.listContainers(signal)
    const mounted: string[] = []
    for (const reference of imagesOfVolumes(pods.list())) {
      const image = await runtime.imageStatus(reference, signal)
      if (image) mounted.push(image.id)
    }
    return new Set([
      this.#config.images.sandbox,
      ...mounted,
      ...containers.flatMap(({ image, imageRef }) => [image.image, imageRef]),
    ])
  }

  #noteImages(
    listed: readonly Image[],
    inUse: ReadonlySet<string>,
    nowMs: number,
  ): readonly ImageUse[] {
    const ids = new Set(listed.map(({ id }) => id))
    for (const id of this.#images.keys()) if (!ids.has(id)) this.#images.delete(id)
    return listed.map((image) => {
      const known = this.#images.get(image.id)
      const isUsed = [image.id, ...image.repoTags].some((name) => inUse.has(name))
      const use: ImageUse = {
        image,
        firstSeenMs: known?.firstSeenMs ?? nowMs,
        lastUsedMs: isUsed ? nowMs : (known?.lastUsedMs ?? 0),
      }
      this.#images.set(image.id, use)
      return use
    })
  }

  async #evictOne(pressure: Pressure, signal: AbortSignal): Promise<void> {
    const { pods } = this.#deps
    const stats = await this.#deps.runtime.listContainerStats(signal)
    const usages = pods
      .list()
      .filter(({ status }) => status?.phase === 'Running')
      .map((pod) => usageOf(pod.metadata.uid ?? '', pod, stats))
    const victim = chooseVictim(usages, pressure)
    if (!victim) return
    const { pod } = victim
    const graceSeconds = pressure === 'memory' ? 0 : gracePeriodSeconds(pod)
    this.#deps.log.info('Evicting pod', { pod: pod.metadata.name, pressure })
    pods.evict(
      pod.metadata.uid ?? '',
      { reason: 'Evicted', message: evictionMessage(pressure) },
      graceSeconds,
    )
  }
}

function usageOf(uid: string, pod: PodUsage['pod'], stats: readonly ContainerStats[]): PodUsage {
  const own = stats.filter(({ labels }) => labels[runtimeLabels.podUid] === uid)
  const sum = (read: (one: ContainerStats) => number | undefined): number =>
    own.reduce((total, one) => total + (read(one) ?? 0), 0)
  return {
    pod,
    memoryBytes: sum(({ memory }) => memory?.workingSetBytes),
    diskBytes: sum(({ writableLayer }) => writableLayer?.usedBytes),
  }
}

async function readUsage(directory: string): Promise<Usage> {
  const { availableBytes } = memoryOf(await readFile('/proc/meminfo', 'utf8'))
  const { blocks, bavail, files, ffree } = await statfs(directory)
  const pidsMax = Number(await readFile('/proc/sys/kernel/pid_max', 'utf8'))
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).length
  return {
    memoryAvailableBytes: availableBytes,
    diskAvailableShare: blocks === 0 ? 1 : bavail / blocks,
    // Some file systems have no fixed number of inodes and report 0.
    inodesFreeShare: files === 0 ? 1 : ffree / files,
    pidsFreeShare: 1 - processes / pidsMax,
  }
}
