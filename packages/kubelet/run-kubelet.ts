import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { runAll, type Clock, type Logger, type Metrics, type Random } from '@skerry/base'
import type { Node } from '@skerry/api'
import { createEventSink, type Cluster } from '@skerry/client'
import { detectCgroups } from './containerd/cgroups.ts'
import type { ContainerRuntime } from './cri/container-runtime.ts'
import { ImagePuller } from './images/image-puller.ts'
import { syncFilesystem } from './images/import-image.ts'
import { resolveConfig, type KubeletConfig, type ResolvedConfig } from './kubelet-config.ts'
import type { NodeContext } from './node-context.ts'
import { writeCniConfig } from './node/cni-config.ts'
import { NodeAgent } from './node/node-agent.ts'
import { nodeFacts, readMachine } from './node/node-facts.ts'
import { PodObserver } from './pods/pod-observer.ts'
import { PodSet, type PodDirectory } from './pods/pod-set.ts'
import { StatusReporter } from './status/status-reporter.ts'
import { NodeStore } from './store/node-store.ts'

export interface KubeletDeps {
  cluster: Cluster
  runtime: ContainerRuntime
  clock: Clock
  random: Random
  log: Logger
  metrics: Metrics
  /** Called once pods can be looked up: for servers of logs, exec and statistics. */
  onReady?: (kubelet: RunningKubelet) => void
}

export interface RunningKubelet {
  readonly config: ResolvedConfig
  readonly pods: PodDirectory
  readonly runtime: ContainerRuntime
}

/**
 * The node agent, until the signal aborts. Pods go on without it. Needs no API server to start:
 * what the node's disk has is run until the API says otherwise.
 */
export async function runKubelet(
  config: KubeletConfig,
  deps: KubeletDeps,
  signal: AbortSignal,
): Promise<void> {
  const resolved = resolveConfig(config)
  await makeDirectories(resolved)
  const machine = await readMachine(resolved.dataDirectory)
  const { cluster, runtime, clock, log } = deps
  const events = createEventSink(cluster, { clock, log })
  const store = new NodeStore(
    { nodeName: resolved.nodeName, directory: join(resolved.dataDirectory, 'store') },
    deps,
    signal,
  )
  await using _store = store
  const facts = nodeFacts(machine, resolved)
  const observer = new PodObserver({ runtime, clock, log, bootId: facts.bootId }, signal)
  const recorder = events.recorder({ component: 'kubelet', host: resolved.nodeName })
  const statuses = new StatusReporter({
    ...deps,
    onStatus: (uid, status) => store.keepStatus(uid, status),
  })
  const images = new ImagePuller({
    runtime,
    clock,
    events: recorder,
    onPulled: (scope) => syncImages(resolved, scope),
  })
  const context: NodeContext = {
    ...deps,
    config: resolved,
    facts,
    cgroups: await detectCgroups(),
    events: recorder,
    observer,
    images,
    objects: store,
    statuses,
  }
  const pods = new PodSet(context, store, signal)
  await using _pods = pods
  const network = new PodNetworkFiles(resolved, deps)
  const agent = new NodeAgent(resolved, machine, {
    ...deps,
    pressure: () => ({ memory: false, disk: false, pids: false }),
    onNode: (node) => network.onNode(node),
  })
  await store.load()
  deps.onReady?.({ config: resolved, pods, runtime })
  await runAll(signal, [
    () => store.run(),
    () => observer.run(),
    () => pods.run(),
    (scope) => statuses.run(scope),
    (scope) => events.run(scope),
    (scope) => network.run(scope),
    (scope) => agent.run(scope),
  ])
}

async function makeDirectories(config: ResolvedConfig): Promise<void> {
  for (const directory of [config.dataDirectory, config.runDirectory, config.logDirectory]) {
    await mkdir(directory, { recursive: true, mode: 0o755 })
  }
  await mkdir(join(config.dataDirectory, 'pods'), { recursive: true, mode: 0o750 })
}

async function syncImages(config: ResolvedConfig, signal: AbortSignal): Promise<void> {
  if (config.imageDirectory !== '') await syncFilesystem(config.imageDirectory, signal)
}

/** Writes the pod network's configuration as soon as, and whenever, the node's podCIDR is known. */
class PodNetworkFiles {
  readonly #config: ResolvedConfig
  readonly #log: Logger
  #podCidrs: readonly string[]
  #wake: (() => void) | undefined

  constructor(config: ResolvedConfig, { log }: { log: Logger }) {
    this.#config = config
    this.#log = log
    this.#podCidrs = config.podCidr === '' ? [] : [config.podCidr]
  }

  onNode(node: Node): void {
    const { podCIDRs, podCIDR } = node.spec ?? {}
    const assigned = podCIDRs ?? (podCIDR ? [podCIDR] : [])
    if (assigned.length === 0) return
    this.#podCidrs = assigned
    this.#wake?.()
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#write()
      const changed = Promise.withResolvers<void>()
      this.#wake = changed.resolve
      signal.addEventListener('abort', () => changed.resolve(), { once: true })
      await changed.promise
    }
  }

  async #write(): Promise<void> {
    if (this.#podCidrs.length === 0) return
    const isChanged = await writeCniConfig(this.#config.cniConfDirectory, {
      podCidrs: this.#podCidrs,
      ipamDirectory: join(this.#config.runDirectory, 'ipam'),
      bridge: 'skerry0',
    })
    if (isChanged) this.#log.info('Pod network configured', { podCidrs: this.#podCidrs.join(',') })
  }
}
