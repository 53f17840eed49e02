import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createMetrics,
  seededRandom,
  silentLogger,
  simulatedClock,
  type Logger,
  type SimulatedClock,
} from '@skerry/base'
import type { Pod } from '@skerry/api'
import { createCluster, resources, type ClusterClient, type Transport } from '@skerry/client'
import { startCopyOf, startTestApiServer, type TestApiServer } from '@skerry/testing'
import type { Machine } from '../node/node-facts.ts'
import type { PodIsolation } from '../pods/pod-isolation.ts'
import type { PodNetwork } from '../pods/pod-network.ts'
import { runKubelet, type KubeletDeps } from '../run/run-kubelet.ts'
import { FakeRuntime, type Program } from './fake-runtime.ts'

export interface SimulatedNodeOptions {
  seed?: number
  program?: Program
  log?: Logger
  isolation?: PodIsolation
  podNetwork?: PodNetwork
  notes?: KubeletDeps['notes']
}

const nodeName = 'sim'
const namespace = 'default'

/**
 * A node agent on a simulated clock, a runtime in memory and a real API server in this process,
 * which can crash, lose the API, lose its runtime and lose its power.
 */
export class SimulatedNode implements AsyncDisposable {
  readonly clock: SimulatedClock = simulatedClock()
  readonly runtime: FakeRuntime
  api: ClusterClient
  /** The metrics of the agent that runs, or ran last. */
  metrics = createMetrics()
  #server: TestApiServer
  readonly #directory: string
  readonly #seed: number
  readonly #log: Logger
  readonly #seams: Pick<KubeletDeps, 'isolation' | 'podNetwork' | 'notes'>
  /** The machine's addresses. */
  addresses: readonly string[] = ['192.168.0.1']
  #isCut = false
  #bootId = 'boot-0'
  #agent: { stop: AbortController; done: Promise<void> } | undefined

  static async start(options: SimulatedNodeOptions = {}): Promise<SimulatedNode> {
    const server = await startTestApiServer()
    const directory = await mkdtemp(join(tmpdir(), 'skerry-node-'))
    const node = new SimulatedNode(server, directory, options)
    node.startAgent()
    return node
  }

  private constructor(server: TestApiServer, directory: string, options: SimulatedNodeOptions) {
    this.#server = server
    this.#directory = directory
    this.#seed = options.seed ?? 1
    this.#log = options.log ?? silentLogger
    const { program, isolation, podNetwork, notes } = options
    this.#seams = {
      ...(isolation && { isolation }),
      ...(podNetwork && { podNetwork }),
      ...(notes && { notes }),
    }
    const images = ['app:1']
    this.runtime = new FakeRuntime({ clock: this.clock, images, ...(program ? { program } : {}) })
    this.api = this.#clusterOf(server.transport)
  }

  /** A pod that is bound to this node, as a scheduler would leave it. */
  async createPod(name: string, spec: Partial<NonNullable<Pod['spec']>> = {}): Promise<void> {
    const pod: Pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace },
      spec: {
        nodeName,
        terminationGracePeriodSeconds: 5,
        enableServiceLinks: false,
        containers: [{ name: 'main', image: 'app:1' }],
        ...spec,
      },
    }
    await this.api.resource(resources.pods).create(pod, never)
  }

  /** Writes a file of this size into an emptyDir of a pod that runs. */
  async fillVolume(name: string, { volume, bytes }: { volume: string; bytes: number }) {
    const { metadata } = await this.api.resource(resources.pods).get({ namespace, name }, never)
    const pod = join(this.#directory, 'data', 'pods', metadata.uid ?? '')
    const directory = join(pod, 'volumes', 'kubernetes.io~empty-dir', volume)
    await writeFile(join(directory, 'file'), Buffer.alloc(bytes))
  }

  async deletePod(name: string): Promise<void> {
    await this.api.resource(resources.pods).delete({ namespace, name }, never)
  }

  /** Returns the conditions of one pod that are True at the API. */
  async trueConditions(name: string): Promise<string[]> {
    const { status } = await this.api.resource(resources.pods).get({ namespace, name }, never)
    return (status?.conditions ?? []).flatMap((one) => (one.status === 'True' ? [one.type] : []))
  }

  /** Lists the API's pods: `name phase ready restarts`. */
  async pods(): Promise<string[]> {
    const { items } = await this.api.resource(resources.pods).list({ namespace }, never)
    return items.map(({ metadata, status }) => {
      const [main] = status?.containerStatuses ?? []
      return `${metadata.name} ${status?.phase} ${main?.ready ? 'ready' : 'unready'} ${main?.restartCount ?? 0}`
    })
  }

  /** Returns why the first container of a pod waits; empty if it does not. */
  async waitingOf(name: string): Promise<string> {
    const { status } = await this.api.resource(resources.pods).get({ namespace, name }, never)
    const waiting = status?.containerStatuses?.[0]?.state?.waiting
    return waiting ? `${waiting.reason}: ${waiting.message}` : ''
  }

  /** Returns the reason and the message of one pod at the API. */
  async messageOf(name: string): Promise<string> {
    const { status } = await this.api.resource(resources.pods).get({ namespace, name }, never)
    return `${status?.reason}: ${status?.message}`
  }

  /** The kubelet's directory, in which drivers register. */
  get dataDirectory(): string {
    return join(this.#directory, 'data')
  }

  startAgent(): void {
    if (this.#agent) return
    this.metrics = createMetrics()
    const stop = new AbortController()
    const done = runKubelet(
      {
        nodeName,
        nodeIps: () => this.addresses,
        dataDirectory: this.dataDirectory,
        runDirectory: join(this.#directory, 'run'),
        logDirectory: join(this.#directory, 'logs'),
        network: { cniConfDirectory: join(this.#directory, 'cni') },
        staticPodDirectory: join(this.#directory, 'manifests'),
      },
      {
        cluster: this.#clusterOf(this.#cutable()),
        runtime: this.runtime,
        clock: this.clock,
        random: seededRandom(this.#seed),
        log: this.#log,
        metrics: this.metrics,
        machine: this.#machine(),
        ...this.#seams,
      },
      stop.signal,
    )
    this.#agent = { stop, done }
  }

  /** The agent is gone from one moment to the next; containers run on. */
  async crashAgent(): Promise<void> {
    const agent = this.#agent
    this.#agent = undefined
    agent?.stop.abort(new Error('crash'))
    await agent?.done
  }

  /** Turns the power off and on again. */
  async reboot(): Promise<void> {
    await this.crashAgent()
    this.runtime.reboot()
    this.runtime.setDown(false)
    this.#bootId = `boot-${Number(this.#bootId.slice(5)) + 1}`
    await rm(join(this.#directory, 'run'), { recursive: true, force: true })
    this.startAgent()
  }

  /** Starts the agent again at another API server, which holds a copy of everything but these pods. */
  async goToCopy(without: readonly string[]): Promise<void> {
    await this.crashAgent()
    const left = without.map((name) => `/pods/${namespace}/${name}`)
    const copy = await startCopyOf(this.#server, (key) => !left.some((end) => key.endsWith(end)))
    await this.#server[Symbol.asyncDispose]()
    this.#server = copy
    this.api = this.#clusterOf(copy.transport)
    this.startAgent()
  }

  /** Sets whether the agent is cut off from the API. */
  setCut(isCut: boolean): void {
    this.#isCut = isCut
  }

  /** Lets time pass until the condition holds; fails after `seconds` of simulated time. */
  async until(what: string, isSo: () => boolean | Promise<boolean>, seconds = 900): Promise<void> {
    const endMs = this.clock.monotonicMs() + seconds * 1000
    while (!(await isSo())) {
      if (this.clock.monotonicMs() > endMs) throw new Error(`Never came to be: ${what}`)
      await this.pass(0.25)
    }
  }

  /** Lets this much time pass, with turns for files to be read and written. */
  async pass(seconds: number): Promise<void> {
    for (let leftMs = seconds * 1000; leftMs > 0; leftMs -= 250) {
      await this.clock.advance(Math.min(250, leftMs))
      for (let turn = 0; turn < 4; turn++) await readFile('/proc/self/stat')
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.crashAgent()
    await this.#server[Symbol.asyncDispose]()
    await rm(this.#directory, { recursive: true, force: true })
  }

  #clusterOf(transport: Transport): ClusterClient {
    return createCluster(transport, { log: silentLogger, clock: this.clock, userAgent: 'sim' })
  }

  /** Wraps the transport so that a cut also breaks requests in progress, including watches. */
  #cutable(): Transport {
    const isCut = (): boolean => this.#isCut
    const { transport } = this.#server
    const cut = (): Error => new Error('connection lost')
    return {
      async send(request, signal) {
        if (isCut()) throw cut()
        const response = await transport.send(request, signal)
        return {
          ...response,
          body: (async function* () {
            for await (const chunk of response.body) {
              if (isCut()) throw cut()
              yield chunk
            }
          })(),
        }
      },
    }
  }

  #machine(): Machine {
    return {
      cgroups: { mode: 'none', roots: [] },
      cpuCount: 4,
      memoryBytes: 8 * 1024 ** 3,
      ephemeralStorageBytes: 100 * 1024 ** 3,
      systemInfo: {
        architecture: 'amd64',
        bootID: this.#bootId,
        kernelVersion: '6',
        kubeProxyVersion: '',
        machineID: 'sim',
        operatingSystem: 'linux',
        osImage: 'sim',
        systemUUID: 'sim',
      },
    }
  }
}

const never = new AbortController().signal
