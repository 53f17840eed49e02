import { isDeepStrictEqual } from 'node:util'
import {
  asError,
  createBackoff,
  createWakeFlag,
  runAll,
  withTimeout,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import { isStatusError, type Lease, type Node, type NodeStatus } from '@skerry/api'
import { resources, type ClusterClient } from '@skerry/client'
import type { ContainerRuntime, RuntimeCondition } from '../cri/container-runtime.ts'
import type { DeviceCount } from '../devices/device-node.ts'
import type { ResolvedConfig } from '../kubelet-config.ts'
import { nodeResources, systemInfo, type Machine } from './node-facts.ts'
import { missingLabels, nodeLabels, nodeStatus, type NodePressure } from './node-status.ts'
import { kubeletBounds, nodeAgentDefaults } from '../limits-table.ts'

/** The parts of the node object that other parts of the agent know. */
export interface NodeReports {
  /** Returns annotations that the node object is to have, in addition to others; null takes one away. */
  annotations: () => Readonly<Record<string, string | null>>
  /** Returns the names of the attached volumes that the node uses. */
  volumesInUse: () => readonly string[]
  /** Returns the number of devices by resource. */
  devices: () => Readonly<Record<string, DeviceCount>>
}

export interface NodeAgentDeps {
  cluster: ClusterClient
  runtime: ContainerRuntime
  clock: Clock
  random: Random
  log: Logger
  pressure: () => NodePressure
  /** Returns problems of the node's network, in words for people; none if there are none. */
  networkProblems: () => readonly string[]
  /** Returns the clock's error, or undefined if it is right. If omitted, it is not reported. */
  clockFault?: () => string | undefined
  reports: NodeReports
  /** Further content of the lease. If omitted, there is none. */
  leaseNotes?: LeaseNotes | undefined
  /** Called with the node object as the API has it. */
  onNode: (node: Node) => void
  /** Called when the control plane answers again after a failure. */
  onReturn: () => void
}

/** Further content that a node writes into its lease with each renewal. */
export interface LeaseNotes {
  /** Returns annotations of the lease; null takes one away. */
  annotations(): Readonly<Record<string, string | null>>
  /** Called after each renewal. */
  onRenewed(): void
  /** Calls back when the annotations should be written before the next renewal. */
  onChange(listener: () => void): Disposable
}

const leaseNamespace = 'kube-node-lease'

/** Registers the node, reports how it is, and renews its lease, for as long as the agent runs. */
export class NodeAgent {
  readonly #config: ResolvedConfig
  readonly #machine: Machine
  readonly #deps: NodeAgentDeps
  #node: Node | undefined
  #status: NodeStatus = {}
  #sentStatus: NodeStatus | undefined
  #sentAtMs = -Infinity
  readonly #due = createWakeFlag()
  readonly #leaseDue = createWakeFlag()

  constructor(config: ResolvedConfig, machine: Machine, deps: NodeAgentDeps) {
    this.#config = config
    this.#machine = machine
    this.#deps = deps
  }

  /** Computes the status now instead of at the next tick. */
  refresh(): void {
    this.#due.raise()
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#whenNetworkIsKnown(signal)
    await this.#retry('register node', signal, (scope) => this.#register(scope))
    await runAll(signal, [
      (scope) => this.#reportForever(scope),
      (scope) => this.#renewForever(scope),
    ])
  }

  /**
   * Waits until the network's state is known, for a limited time: a restart alone must not make the node
   * unready, which would remove endpoints for a moment.
   */
  async #whenNetworkIsKnown(signal: AbortSignal): Promise<void> {
    const { clock, networkProblems } = this.#deps
    const { lookMsMax, lookAgainMs } = nodeAgentDefaults
    const endMs = clock.monotonicMs() + lookMsMax
    while (networkProblems().length > 0 && clock.monotonicMs() < endMs)
      await clock.sleep(lookAgainMs, signal)
  }

  async #retry(
    what: string,
    signal: AbortSignal,
    work: (scope: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const backoff = createBackoff(kubeletBounds.nodeAgent.retry, this.#deps.random)
    const { requestTimeoutMs: ms } = nodeAgentDefaults
    const message = `Cannot ${what}: no answer`
    const { clock, onReturn } = this.#deps
    let hasFailed = false
    for (;;) {
      try {
        await withTimeout({ ms, message, clock }, signal, work)
        if (hasFailed) onReturn()
        return
      } catch (error) {
        signal.throwIfAborted()
        hasFailed = true
        this.#deps.log.debug('Node request failed', { what, error: asError(error) })
        await clock.sleep(backoff.nextMs(), signal)
      }
    }
  }

  /** Creates the node object, or takes the one there is: its taints and podCIDR are others' work. */
  async #register(signal: AbortSignal): Promise<void> {
    const nodes = this.#deps.cluster.resource(resources.nodes)
    const { nodeName } = this.#config
    const { architecture } = this.#machine.systemInfo
    const labels = nodeLabels(this.#config, architecture)
    await this.#compute(signal)
    try {
      this.#accept(await nodes.get({ name: nodeName }, signal))
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error
      const node: Node = {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: nodeName, labels },
        spec: { taints: this.#config.registration.taints.map((taint) => ({ ...taint })) },
        status: this.#status,
      }
      this.#accept(await nodes.create(node, signal))
      this.#deps.log.info('Node registered', { node: nodeName })
    }
    const missing = this.#node ? missingLabels(this.#node, labels) : {}
    if (Object.keys(missing).length === 0) return
    const patch = { metadata: { labels: missing } }
    this.#accept(await nodes.patch({ name: nodeName, type: 'strategic', patch }, signal))
  }

  #accept(node: Node): void {
    this.#node = node
    this.#deps.onNode(node)
  }

  async #reportForever(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#retry('report node status', signal, (scope) => this.#report(scope))
      const { statusMs, notReadyMs } = nodeAgentDefaults
      const delayMs = this.#isReady ? statusMs : notReadyMs
      using _timer = this.#deps.clock.setTimer(delayMs, this.#due.raise)
      await this.#due.wait(signal)
    }
  }

  get #isReady(): boolean {
    const { conditions = [] } = this.#status
    return conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
  }

  async #report(signal: AbortSignal): Promise<void> {
    if (this.#sentStatus) await this.#readNode(signal)
    await this.#annotate(signal)
    await this.#compute(signal)
    const nowMs = this.#deps.clock.monotonicMs()
    const isDue = nowMs - this.#sentAtMs >= nodeAgentDefaults.reportMs
    const isKnown =
      isSameReport(this.#sentStatus, this.#status) && isShown(this.#node?.status, this.#status)
    if (isKnown && !isDue) return
    const nodes = this.#deps.cluster.resource(resources.nodes)
    const name = this.#config.nodeName
    const patch = { status: statusPatchOf(this.#status) }
    try {
      this.#accept(await nodes.patchStatus({ name, type: 'strategic', patch }, signal))
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error
      return this.#register(signal)
    }
    this.#sentStatus = this.#status
    this.#sentAtMs = nowMs
  }

  /** They change while the node runs, and somebody may have removed one. */
  async #annotate(signal: AbortSignal): Promise<void> {
    const annotations = this.#deps.reports.annotations()
    const known = this.#node?.metadata.annotations ?? {}
    const isKnown = ([key, value]: [string, string | null]): boolean =>
      (known[key] ?? null) === value
    if (Object.entries(annotations).every(isKnown)) return
    const nodes = this.#deps.cluster.resource(resources.nodes)
    const { nodeName: name } = this.#config
    const patch = { metadata: { annotations } }
    this.#accept(await nodes.patch({ name, type: 'strategic', patch }, signal))
  }

  /** Other programs write there, too: a podCIDR, or Unknown over the report before a silence. */
  async #readNode(signal: AbortSignal): Promise<void> {
    const nodes = this.#deps.cluster.resource(resources.nodes)
    try {
      this.#accept(await nodes.get({ name: this.#config.nodeName }, signal))
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error
      await this.#register(signal)
    }
  }

  async #compute(signal: AbortSignal): Promise<void> {
    const { runtime, clock, pressure, networkProblems, clockFault } = this.#deps
    let runtimeConditions: RuntimeCondition[] | undefined
    let images = this.#lastImages
    let version = this.#lastVersion
    try {
      runtimeConditions = await runtime.conditions(signal)
      images = await runtime.listImages(signal)
      version = await runtime.version(signal)
    } catch (error) {
      signal.throwIfAborted()
      this.#deps.log.debug('Runtime does not answer', { error: asError(error) })
    }
    this.#lastImages = images
    this.#lastVersion = version
    this.#status = nodeStatus({
      config: this.#config,
      previous: this.#node?.status ?? this.#status,
      resources: nodeResources(this.#machine, this.#config),
      systemInfo: systemInfo(this.#machine, version, this.#config.registration.version),
      images,
      runtimeConditions,
      pressure: pressure(),
      networkProblems: networkProblems(),
      volumesInUse: this.#deps.reports.volumesInUse(),
      devices: this.#deps.reports.devices(),
      ...(clockFault ? { clock: { fault: clockFault() } } : {}),
      nowMs: clock.now(),
    })
  }

  #lastImages: Awaited<ReturnType<ContainerRuntime['listImages']>> = []
  #lastVersion = { runtimeName: 'containerd', runtimeVersion: 'unknown' }

  async #renewForever(signal: AbortSignal): Promise<void> {
    const { clock, leaseNotes } = this.#deps
    using _changes = leaseNotes?.onChange(this.#leaseDue.raise)
    while (!signal.aborted) {
      this.#leaseDue.lower()
      await this.#retry('renew node lease', signal, (scope) => this.#renew(scope))
      leaseNotes?.onRenewed()
      using _timer = clock.setTimer(nodeAgentDefaults.leaseRenewMs, this.#leaseDue.raise)
      await this.#leaseDue.wait(signal)
    }
  }

  async #renew(signal: AbortSignal): Promise<void> {
    const leases = this.#deps.cluster.resource(resources.leases)
    const name = this.#config.nodeName
    const renewTime = new Date(this.#deps.clock.now()).toISOString().replace('Z', '000Z')
    const spec = {
      holderIdentity: name,
      leaseDurationSeconds: nodeAgentDefaults.leaseSeconds,
      renewTime,
    }
    const key = { namespace: leaseNamespace, name }
    const annotations = this.#deps.leaseNotes?.annotations()
    const notes = annotations && { metadata: { annotations } }
    try {
      await leases.patch({ ...key, type: 'merge', patch: { ...notes, spec } }, signal)
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error
      const { uid } = this.#node?.metadata ?? {}
      const owner = { apiVersion: 'v1', kind: 'Node', name, uid: uid ?? '' }
      const lease: Lease = {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { ...key, ...(uid ? { ownerReferences: [owner] } : {}) },
        spec,
      }
      await leases.create(lease, signal)
    }
  }
}

/** Compares reports without their heartbeats. */
function isSameReport(one: NodeStatus | undefined, other: NodeStatus): boolean {
  const calm = (status: NodeStatus): NodeStatus => ({
    ...status,
    conditions: (status.conditions ?? []).map((condition) => ({
      ...condition,
      lastHeartbeatTime: '',
    })),
  })
  return one !== undefined && isDeepStrictEqual(calm(one), calm(other))
}

/** Reports whether the API shows the present conditions. */
function isShown(shown: NodeStatus | undefined, seen: NodeStatus): boolean {
  const shownStatus = new Map((shown?.conditions ?? []).map(({ type, status }) => [type, status]))
  return (seen.conditions ?? []).every(({ type, status }) => shownStatus.get(type) === status)
}

/** The server merges addresses by type, so the list is replaced, which removes old ones. */
function statusPatchOf(status: NodeStatus): object {
  return { ...status, addresses: [...(status.addresses ?? []), { $patch: 'replace' }] }
}
