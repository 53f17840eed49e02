import { isReservedNodeLabel, isStatusError, type CSINode, type Node } from '@skerry/api'
import {
  asError,
  createBackoff,
  createWakeFlag,
  sayWhenNew,
  withTimeout,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import { resources, type ClusterClient } from '@skerry/client'
import { csiDefaults, kubeletBounds } from '../limits-table.ts'
import type { CsiDrivers, RegisteredDriver } from './csi-drivers.ts'
import { planCsiNode } from './csi-node-plan.ts'

export interface CsiNodeReportDeps {
  cluster: ClusterClient
  clock: Clock
  random: Random
  log: Logger
  drivers: CsiDrivers
  /** Returns the node object as the API had it last. */
  node: () => Node | undefined
}

interface Collision {
  driver: string
  label: string
}

const { requestTimeoutMs, resyncMs, forgetAfterMs } = csiDefaults
const { reportRetry } = kubeletBounds.csi

/**
 * Keeps this node's CSINode object and topology labels as its drivers report them, while the API answers. A driver
 * that has left the node is taken away at once; one that has not come back after the agent's start, only after some
 * time, because drivers that are pods start later.
 */
export class CsiNodeReport {
  readonly #nodeName: string
  readonly #deps: CsiNodeReportDeps
  readonly #changed = createWakeFlag()
  /** The names of drivers that were registered since the start. */
  readonly #seen = new Set<string>()
  readonly #sayCollisions: (found: readonly Collision[]) => void
  /** True once the API has shown that nothing is left to take away. */
  #isClear = false

  constructor(nodeName: string, deps: CsiNodeReportDeps) {
    this.#nodeName = nodeName
    this.#deps = deps
    this.#sayCollisions = sayWhenNew(({ driver, label }) =>
      deps.log.error('CSI driver is not reported: its topology is not the label of the node', {
        driver,
        label,
      }),
    )
  }

  /** Call this when a driver came or went. */
  refresh(): void {
    this.#changed.raise()
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#deps
    const backoff = createBackoff(reportRetry, random)
    const startedMs = clock.monotonicMs()
    for (;;) {
      let delayMs: number = resyncMs
      this.#changed.lower()
      try {
        const message = 'Cannot report CSI drivers: no answer from the API in time'
        await withTimeout({ ms: requestTimeoutMs, message, clock }, signal, (scope) =>
          this.#report(clock.monotonicMs() - startedMs >= forgetAfterMs, scope),
        )
        backoff.reset()
      } catch (error) {
        signal.throwIfAborted()
        log.debug('CSI drivers not reported yet', { error: asError(error) })
        delayMs = backoff.nextMs()
      }
      using _timer = clock.setTimer(delayMs, this.#changed.raise)
      await this.#changed.wait(signal)
    }
  }

  async #report(isSettled: boolean, signal: AbortSignal): Promise<void> {
    const { cluster, drivers, node } = this.#deps
    const all = drivers.list()
    for (const { name } of all) this.#seen.add(name)
    const hasNone = all.length === 0
    if (hasNone && (this.#isClear || (this.#seen.size === 0 && !isSettled))) return
    const labelled = node()
    if (labelled === undefined) throw new Error('Cannot report CSI drivers: node is not registered')
    const reported = await this.#label(labelled, all, signal)
    const objects = cluster.resource(resources.csiNodes)
    const shown = await this.#read(signal)
    const registered = new Set(reported.map(({ name }) => name))
    const plan = planCsiNode({
      // An empty list comes as null.
      shown: shown?.spec.drivers ?? [],
      registered: reported,
      isForgotten: (name) => isSettled || (this.#seen.has(name) && !registered.has(name)),
    })
    this.#isClear = hasNone && isSettled && plan.length === 0
    for (const [index, list] of plan.entries()) {
      if (!shown && index === 0) await objects.create(this.#csiNode(labelled, list), signal)
      else {
        const patch = { spec: { drivers: list } }
        await objects.patch({ type: 'merge', name: this.#nodeName, patch }, signal)
      }
    }
  }

  async #read(signal: AbortSignal): Promise<CSINode | undefined> {
    try {
      const name = this.#nodeName
      return await this.#deps.cluster.resource(resources.csiNodes).get({ name }, signal)
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return undefined
      throw error
    }
  }

  #csiNode(node: Node, drivers: CSINode['spec']['drivers']): CSINode {
    const name = this.#nodeName
    const owner = { apiVersion: 'v1', kind: 'Node', name, uid: node.metadata.uid ?? '' }
    return {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSINode',
      metadata: { name, ownerReferences: [owner] },
      spec: { drivers },
    }
  }

  /** Adds the labels that are missing. Returns the drivers whose topology the node's labels have. */
  async #label(
    node: Node,
    drivers: readonly RegisteredDriver[],
    signal: AbortSignal,
  ): Promise<RegisteredDriver[]> {
    const known = node.metadata.labels ?? {}
    const collisions = drivers.flatMap(({ name, topology }): Collision[] => {
      const wrong = Object.entries(topology).find(
        ([key, value]) => (known[key] ?? value) !== value || isForbidden(key, known),
      )
      return wrong ? [{ driver: name, label: wrong[0] }] : []
    })
    this.#sayCollisions(collisions)
    const refused = new Set(collisions.map(({ driver }) => driver))
    const reported = drivers.filter(({ name }) => !refused.has(name))
    const labels: Record<string, string> = {}
    for (const { topology } of reported) {
      for (const [key, value] of Object.entries(topology)) {
        if (known[key] === undefined) labels[key] ??= value
      }
    }
    if (Object.keys(labels).length === 0) return reported
    const patch = { metadata: { labels } }
    const nodes = this.#deps.cluster.resource(resources.nodes)
    await nodes.patch({ type: 'strategic', name: this.#nodeName, patch }, signal)
    return reported
  }
}

/** A label that no node may give itself must have been set by somebody else. */
function isForbidden(key: string, known: Readonly<Record<string, string>>): boolean {
  return known[key] === undefined && isReservedNodeLabel(key)
}
