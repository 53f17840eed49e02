import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import {
  runAll,
  withTimeout,
  type Clock,
  type Logger,
  type Metrics,
  type Random,
} from '@skerry/base'
import type { Node } from '@skerry/api'
import { createEventSink, type ClusterClient, type EventRecorder } from '@skerry/client'
import type { ContainerRuntime } from '../cri/container-runtime.ts'
import { DeviceNode, type DeviceNodeOptions } from '../devices/device-node.ts'
import { CsiNode } from '../csi/csi-node.ts'
import { NodePressureWatch } from '../garbage/node-pressure.ts'
import { watchStorage } from '../garbage/storage-watch.ts'
import { ImagePuller } from '../images/image-puller.ts'
import { syncFilesystem } from '../images/import-image.ts'
import { resolveConfig, type KubeletConfig, type ResolvedConfig } from '../kubelet-config.ts'
import type { NodeContext } from '../pods/node-context.ts'
import { NodeAgent, type LeaseNotes, type NodeReports } from '../node/node-agent.ts'
import { nodeFacts, readMachine, type Machine } from '../node/node-facts.ts'
import { PodBridge } from '../node/pod-bridge.ts'
import { PodNetworkFiles } from '../node/pod-network-files.ts'
import { noIsolation, type PodIsolation } from '../pods/pod-isolation.ts'
import { noPodNetwork, type PodNetwork } from '../pods/pod-network.ts'
import { PodObserver } from '../pods/pod-observer.ts'
import { PodSet, type PodDirectory } from '../pods/pod-set.ts'
import { stopAllPods } from '../pods/stop-all-pods.ts'
import { isStatic } from '../static-pods/static-pod-marks.ts'
import { StaticPods } from '../static-pods/static-pods.ts'
import type { MeasuredVolume } from '../stats/stats-summary.ts'
import { StatusReporter } from '../status/status-reporter.ts'
import { NodeStore } from '../store/node-store.ts'
import { storeDirectory } from '../store/stored-node.ts'
import type { StandIn } from '../store/token-source.ts'
import { kubeletBounds } from '../limits-table.ts'

export interface KubeletDeps {
  cluster: ClusterClient
  runtime: ContainerRuntime
  clock: Clock
  random: Random
  log: Logger
  metrics: Metrics
  /** Enforces NetworkPolicies. If omitted, this process does not. */
  isolation?: PodIsolation
  /** The pods' network. Default: the node keeps the bridge that its config names. */
  podNetwork?: PodNetwork
  /** Further content of the node's own objects. Default: none. */
  notes?: NodeNotes
  /** Signs tokens of pods while the API is away. If omitted, pods keep those that have ended. */
  standIn?: StandIn
  /** The machine of the agent. If omitted, its facts are read. */
  machine?: Machine
  /** Called once pods can be looked up: for servers of logs, exec and statistics. */
  onReady?: (kubelet: RunningKubelet) => void
}

export interface NodeNotes {
  /** Returns further problems of the node's network, for its Ready condition. Default: none. */
  readonly networkProblems?: () => readonly string[]
  /** Returns further annotations of the node object, which may change. Default: none. */
  readonly annotations?: () => Readonly<Record<string, string | null>>
  /** Returns the clock's error in words for people, or undefined if it is right. If omitted, it is not reported. */
  readonly clockFault?: () => string | undefined
  /** Further content of the node's lease. Default: none. */
  readonly lease?: LeaseNotes
}

export interface RunningKubelet {
  readonly config: ResolvedConfig
  readonly pods: PodDirectory
  readonly runtime: ContainerRuntime
  /** Returns the tokens that the API gave this pod. */
  tokensOf(podUid: string): readonly string[]
  /** Returns the volumes of a pod whose drivers measure them. */
  volumesOf(podUid: string): readonly MeasuredVolume[]
  /** Call this when the machine has another address: node and pods report it at once. */
  readdress(): void
  /** Reports the node now instead of at the next tick. */
  report(): void
}

const { stopPodsMs } = kubeletBounds.runKubelet

/**
 * Runs the node agent until the signal aborts. Pods keep running without it, unless the config requires that
 * they end. It needs no API server to start: it runs the pods on the node's disk until the API changes them.
 */
export async function runKubelet(
  config: KubeletConfig,
  deps: KubeletDeps,
  signal: AbortSignal,
): Promise<void> {
  const resolved = resolveConfig(config)
  await makeDirectories(resolved)
  const machine = deps.machine ?? (await readMachine(resolved.dataDirectory))
  await using store = createStore(resolved, deps, signal)
  const events = createEventSink(deps.cluster, deps)
  const recorder = events.recorder({ component: 'kubelet', host: resolved.nodeName })
  const onDriver = (): void => pods.wakeAll()
  const onNews = (): void => agent.refresh()
  const csiOptions = { ...resolved, bootId: machine.systemInfo.bootID }
  const node = (): Node | undefined => store.node
  using csi = new CsiNode(csiOptions, { ...deps, events: recorder, node, onDriver, onNews })
  const devices = createDevices(csiOptions, deps, { pods: () => pods, onNews })
  const staticPods = createStaticPods(resolved, deps, { store, pods: () => pods })
  const bridge = createBridge(resolved, deps, () => ({ observer: context.observer, pods }))
  const podNetwork = deps.podNetwork ?? bridge ?? noPodNetwork
  const parts = { resolved, machine, store, recorder, staticPods, podNetwork, csi, devices }
  const context = createContext(parts, deps, signal)
  await using pods = new PodSet(context, store, signal)
  const network = new PodNetworkFiles(resolved, deps)
  const pressure = new NodePressureWatch(resolved, { ...deps, pods, onChange: onNews })
  const onNode = (node: Node): void => {
    store.keepNode(node)
    network.onNode(node)
    bridge?.onNode(node)
  }
  const agent = new NodeAgent(resolved, machine, {
    ...deps,
    pressure: () => pressure.pressure(),
    networkProblems: () => [...podNetwork.problems(), ...(deps.notes?.networkProblems?.() ?? [])],
    reports: nodeReports(deps, { csi, devices }),
    leaseNotes: deps.notes?.lease,
    ...(deps.notes?.clockFault ? { clockFault: deps.notes.clockFault } : {}),
    onNode,
    onReturn: () => store.retryNow(),
  })
  await Promise.all([store.load(), csi.load(), devices.load()])
  if (store.node) {
    network.onNode(store.node)
    bridge?.onNode(store.node)
  }
  deps.onReady?.(runningKubelet({ resolved, store, csi, pods, agent }, deps))
  try {
    await runAll(signal, [
      () => store.run(),
      () => context.observer.run(),
      () => pods.run(),
      (scope) => pods.endOrphans(staticPods.whenScanned(), scope),
      (scope) => staticPods.run(scope),
      (scope) => context.statuses.run(scope),
      (scope) => events.run(scope),
      (scope) => network.run(scope),
      (scope) => csi.run(scope),
      (scope) => devices.run(scope),
      async (scope) => bridge?.run(scope),
      (scope) => pressure.run(scope),
      (scope) => watchStorage(resolved, { ...deps, pods }, scope),
      (scope) => agent.run(scope),
    ])
  } finally {
    if (resolved.stopsPodsOnExit && signal.aborted) await stopPods(deps, pods)
  }
}

function runningKubelet(
  {
    resolved,
    store,
    csi,
    pods,
    agent,
  }: Pick<Parts, 'resolved' | 'store' | 'csi'> & { pods: PodSet; agent: NodeAgent },
  { runtime }: KubeletDeps,
): RunningKubelet {
  const report = (): void => agent.refresh()
  return {
    config: resolved,
    pods,
    runtime,
    tokensOf: (podUid) => store.tokensOf(podUid),
    volumesOf: (podUid) => csi.usage.of(podUid),
    readdress() {
      report()
      pods.wakeAll()
    },
    report,
  }
}

function nodeReports(
  { notes }: KubeletDeps,
  { csi, devices }: { csi: CsiNode; devices: DeviceNode },
): NodeReports {
  return {
    annotations: () => ({ ...notes?.annotations?.(), ...csi.annotations() }),
    volumesInUse: () => csi.volumesInUse(),
    devices: () => devices.counts(),
  }
}

function createDevices(
  options: DeviceNodeOptions,
  { clock, log }: KubeletDeps,
  { pods, onNews }: { pods: () => PodSet; onNews: () => void },
): DeviceNode {
  return new DeviceNode(options, {
    clock,
    log,
    pods: () => pods().list(),
    onNews() {
      onNews()
      // Some may have waited for devices.
      pods().wakeAll()
    },
  })
}

function createStore(config: ResolvedConfig, deps: KubeletDeps, signal: AbortSignal): NodeStore {
  const directory = storeDirectory(config.dataDirectory)
  return new NodeStore({ nodeName: config.nodeName, directory }, deps, signal)
}

function createStaticPods(
  config: ResolvedConfig,
  deps: KubeletDeps,
  { store, pods }: { store: NodeStore; pods: () => PodSet },
): StaticPods {
  const { staticPodDirectory: directory, nodeName } = config
  return new StaticPods(
    { directory, nodeName },
    {
      ...deps,
      onSet: (pod) => pods().set(pod),
      onRemove: (pod) => pods().remove(pod),
      apiPods: () => (store.isSynced ? store.list() : []),
      node: () => store.node,
    },
  )
}

interface Parts {
  resolved: ResolvedConfig
  machine: Machine
  store: NodeStore
  recorder: EventRecorder
  staticPods: StaticPods
  podNetwork: PodNetwork
  csi: CsiNode
  devices: DeviceNode
}

function createBridge(
  config: ResolvedConfig,
  { clock, log }: KubeletDeps,
  parts: () => { observer: PodObserver; pods: PodSet },
): PodBridge | undefined {
  if (config.network.podBridge === '') return undefined
  return new PodBridge(config, {
    clock,
    log,
    sandboxes: (signal) => parts().observer.networked(signal),
    onChange: () => parts().pods.wakeAll(),
  })
}

function createContext(
  { resolved, machine, store, recorder, staticPods, podNetwork: network, csi, devices }: Parts,
  deps: KubeletDeps,
  signal: AbortSignal,
): NodeContext {
  const facts = nodeFacts(machine, resolved)
  const runningPods = deps.metrics.gauge('kubelet_running_pods', 'Pods whose phase is Running.')
  const statuses = new StatusReporter({
    ...deps,
    targetOf: (pod) => (isStatic(pod) ? staticPods.mirror(pod) : store.apiPod(pod)),
    onStatus(uid, status) {
      store.keepStatus(uid, status)
      runningPods.set(statuses.runningCount)
    },
  })
  return {
    ...deps,
    config: resolved,
    facts,
    cgroups: machine.cgroups,
    events: recorder,
    isolation: deps.isolation ?? noIsolation,
    network,
    observer: new PodObserver({ ...deps, network, bootId: facts.bootId }, signal),
    images: new ImagePuller({
      ...deps,
      events: recorder,
      onPulled: (scope) => syncImages(resolved, scope),
    }),
    objects: store,
    csi: csi.volumes,
    devices,
    statuses,
  }
}

async function makeDirectories(config: ResolvedConfig): Promise<void> {
  for (const directory of [config.dataDirectory, config.runDirectory, config.logDirectory]) {
    await mkdir(directory, { recursive: true, mode: 0o755 })
  }
  await mkdir(join(config.dataDirectory, 'pods'), { recursive: true, mode: 0o750 })
}

async function syncImages(config: ResolvedConfig, signal: AbortSignal): Promise<void> {
  const { directory } = config.images
  if (directory !== '') await syncFilesystem(directory, signal)
}

async function stopPods({ runtime, clock, log }: KubeletDeps, pods: PodDirectory): Promise<void> {
  log.info('Ending all pods')
  const known = pods.list()
  const message = 'Cannot end all pods: some took too long'
  const forever = new AbortController().signal
  await withTimeout({ ms: stopPodsMs, message, clock }, forever, (scope) =>
    stopAllPods(runtime, known, scope),
  )
}
