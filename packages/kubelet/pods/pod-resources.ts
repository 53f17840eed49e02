import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { asError } from '@skerry/base'
import type { Pod } from '@skerry/api'
import { killCgroup, removeCgroup } from '../containerd/cgroups.ts'
import type { PodSandboxConfig } from '../cri/container-runtime.ts'
import { ignoreNotFound } from '../cri/ignore-not-found.ts'
import { stopSandbox } from '../cri/stop-sandbox.ts'
import type { NodeContext } from './node-context.ts'
import { linuxContainerResources } from '../resources/container-resources.ts'
import { createPodCgroup } from '../resources/pod-cgroup.ts'
import { hasCode } from '../system-error.ts'
import {
  removePodDirectories,
  setUpVolumes,
  tearDownVolumes,
  type PodVolumes,
} from '../volumes/pod-volumes.ts'
import { podCgroupParent, runtimeClassOf } from './container-config.ts'
import type { Garbage } from './container-garbage.ts'
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../pod/observed-pod.ts'
import { hostDns } from './host-dns.ts'
import { podDns } from './pod-dns.ts'
import { podLogDirectory } from '../pod/pod-paths.ts'
import type { StartAction, UpdateAction } from '../plan/pod-actions.ts'
import { isHostNetwork } from '../pod/pod-spec.ts'
import { sandboxConfig } from './sandbox-config.ts'
import { startContainer } from './start-container.ts'
import { StartError } from '../pod/start-error.ts'

export type UsedSandbox = Pick<ObservedSandbox, 'id' | 'attempt' | 'ips'>

/**
 * Manages one pod's resources on the node: volumes, cgroup, sandboxes, directories. It carries out plans and
 * decides nothing.
 */
export class PodResources {
  readonly #context: NodeContext
  #volumes: PodVolumes | undefined
  #setUpAtMs = 0

  constructor(context: NodeContext) {
    this.#context = context
  }

  get refreshAtMs(): number | undefined {
    return this.#volumes?.refreshAtMs
  }

  mustRefresh(): boolean {
    const atMs = this.#volumes?.refreshAtMs
    const nowMs = this.#context.clock.now()
    // A clock that was set back leaves tokens that are not good yet.
    return atMs !== undefined && (atMs <= nowMs || nowMs < this.#setUpAtMs)
  }

  /** Brings volumes and cgroup into their wanted state. */
  async setUp(pod: Pod, signal: AbortSignal): Promise<void> {
    const { objects, config, facts, cgroups, clock, csi } = this.#context
    await objects.whenKnown(pod, signal)
    await createPodCgroup(cgroups, podCgroupParent(config.nodeName, pod), pod)
    const nowMs = clock.now()
    this.#volumes = await setUpVolumes(
      {
        pod,
        directories: config,
        sources: objects,
        csi,
        podIps: [],
        hostIps: facts.hostIps,
        allocatable: facts.allocatable,
        nowMs,
      },
      signal,
    )
    this.#setUpAtMs = nowMs
  }

  /** Throws what RunPodSandbox threw, after an event about it. */
  async createSandbox(pod: Pod, attempt: number, signal: AbortSignal): Promise<UsedSandbox> {
    const { runtime, events, network, cgroups, config: node } = this.#context
    try {
      // Processes that the runtime no longer knows would otherwise run next to their successors.
      await killCgroup(cgroups, podCgroupParent(node.nodeName, pod))
      await network.beforeSandbox(signal)
      const handler = await this.#handlerOf(pod, signal)
      const config = await this.#sandboxConfig(pod, attempt)
      const id = await runtime.runPodSandbox(config, handler, signal)
      const { ips } = await runtime.podSandboxStatus(id, signal)
      return { id, attempt, ips: isHostNetwork(pod) ? [] : ips }
    } catch (cause) {
      signal.throwIfAborted()
      const message = `Failed to create pod sandbox: ${asError(cause).message}`
      events.event(pod, { type: 'Warning', reason: 'FailedCreatePodSandBox', message })
      throw new StartError('CreatePodSandboxError', message, { cause })
    }
  }

  /** Returns the sandbox for new containers; the plan ensures that there is one. */
  sandboxOf(pod: Pod, observed: ObservedPod): UsedSandbox {
    const [newest] = observed.sandboxes
    if (newest) return newest
    throw new RangeError(`Cannot start containers of pod "${pod.metadata.name}": no sandbox`)
  }

  async start(
    pod: Pod,
    request: { action: StartAction; sandbox: UsedSandbox; observed: ObservedPod },
    signal: AbortSignal,
  ): Promise<void> {
    const { action, sandbox, observed } = request
    const { facts } = this.#context
    if (!this.#volumes) throw new RangeError('Cannot start container: volumes are not set up')
    await startContainer(
      this.#context,
      {
        pod,
        action,
        sandboxId: sandbox.id,
        sandboxConfig: await this.#sandboxConfig(pod, sandbox.attempt),
        podIps: isHostNetwork(pod) ? facts.hostIps : sandbox.ips,
        volumes: this.#volumes,
        observed,
      },
      signal,
    )
  }

  /** The pod's share first where it grows, again at the end where it shrinks. */
  async update(pod: Pod, actions: readonly UpdateAction[], signal: AbortSignal): Promise<void> {
    const { runtime, config, cgroups, facts } = this.#context
    const parent = podCgroupParent(config.nodeName, pod)
    await createPodCgroup(cgroups, parent, pod)
    for (const { observed, container } of actions) {
      const { cgroupMode, memoryCapacityBytes } = { cgroupMode: cgroups.mode, ...facts }
      const wanted = linuxContainerResources(pod, container, { cgroupMode, memoryCapacityBytes })
      await runtime.updateContainerResources(observed.id, wanted, signal)
    }
    await createPodCgroup(cgroups, parent, pod)
  }

  async stopSandboxes(sandboxes: readonly ObservedSandbox[], signal: AbortSignal): Promise<void> {
    for (const { id } of sandboxes) await this.#stopSandbox(id, signal)
  }

  async #stopSandbox(id: string, signal: AbortSignal): Promise<void> {
    const { runtime, log } = this.#context
    const wasCovered = await stopSandbox(runtime, id, signal)
    if (wasCovered) log.info('Mounts of others covered a network namespace', { sandbox: id })
  }

  async collectGarbage(pod: Pod, garbage: Garbage, signal: AbortSignal): Promise<void> {
    for (const container of garbage.containers) await this.#removeContainer(pod, container, signal)
    for (const { id } of garbage.sandboxes) await this.#removeSandbox(id, signal)
  }

  /** Frees costly resources once nothing runs. Dead containers stay for their logs. */
  async reclaim(pod: Pod, signal: AbortSignal): Promise<void> {
    const { config, cgroups, csi } = this.#context
    await tearDownVolumes({ directories: config, csi }, pod, signal)
    const isGone = await removeCgroup(cgroups, podCgroupParent(config.nodeName, pod))
    if (!isGone) this.#context.log.debug('Pod cgroup is still in use', { pod: pod.metadata.name })
    this.#volumes = undefined
  }

  /** Removes everything once the pod is gone from the API. */
  async remove(pod: Pod, observed: ObservedPod, signal: AbortSignal): Promise<void> {
    const { config, cgroups, csi } = this.#context
    for (const { id } of observed.containers) {
      await ignoreNotFound(this.#context.runtime.removeContainer(id, signal))
    }
    for (const { id } of observed.sandboxes) await this.#removeSandbox(id, signal)
    await removePodDirectories({ directories: config, csi }, pod.metadata.uid ?? '', signal)
    await rm(podLogDirectory(config, pod), { recursive: true, force: true })
    await removeCgroup(cgroups, podCgroupParent(config.nodeName, pod))
  }

  async #removeSandbox(id: string, signal: AbortSignal): Promise<void> {
    await this.#stopSandbox(id, signal)
    await ignoreNotFound(this.#context.runtime.removePodSandbox(id, signal))
  }

  async #removeContainer(
    pod: Pod,
    { id, name, restartCount }: ObservedContainer,
    signal: AbortSignal,
  ): Promise<void> {
    await ignoreNotFound(this.#context.runtime.removeContainer(id, signal))
    const directory = join(podLogDirectory(this.#context.config, pod), name)
    for (const file of await filesIn(directory)) {
      if (file.startsWith(`${restartCount}.log`)) await rm(join(directory, file), { force: true })
    }
  }

  async #handlerOf(pod: Pod, signal: AbortSignal): Promise<string> {
    const name = runtimeClassOf(pod)
    if (name === undefined) return ''
    const handler = await this.#context.objects.runtimeHandler(name, signal)
    if (handler !== undefined) return handler
    throw new Error(`failed to get runtime handler: RuntimeClass "${name}" not found`)
  }

  async #sandboxConfig(pod: Pod, attempt: number): Promise<PodSandboxConfig> {
    const { config, facts } = this.#context
    const host = await hostDns(config.network.resolvConfFile)
    const { nodeName } = config
    const { clusterDns, clusterDomain } = config.network
    return sandboxConfig({
      pod,
      attempt,
      logDirectory: podLogDirectory(config, pod),
      cgroupParent: podCgroupParent(nodeName, pod),
      dns: podDns(pod, { servers: clusterDns, domain: clusterDomain }, host),
      clusterDomain,
      bootId: facts.bootId,
    })
  }
}

async function filesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}
