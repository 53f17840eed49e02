import type { Node, Pod } from '@skerry/api'
import { asError, messageOf, withTimeout, type Clock, type Logger, type Random } from '@skerry/base'
import {
  createInformer,
  readBody,
  resources,
  type ClusterClient,
  type Informer,
} from '@skerry/client'
import {
  conditionTypes,
  type ApiEnablement,
  type ConditionText,
  groupLabel,
} from '@skerry/fleet-kinds'
import { apiEnablementsOf } from './cluster-facts.ts'
import { clusterIdOf } from './cluster-id.ts'
import { createSlimmer } from './slim-objects.ts'
import { edgeObserverDefaults } from '../limits-table.ts'

export interface EdgeObserverTiming {
  /** The list of APIs changes seldom, and is long. */
  readonly discoveryPeriodMs: number
  /** The time for which an answer is reused, in milliseconds: many Clusters report the same server. */
  readonly freshMs: number
  /** The time for which the end of the server's certificate is reused, in milliseconds. */
  readonly certificatePeriodMs: number
  /** The timeout of one request. */
  readonly requestMs: number
}

export interface EdgeObserverDeps {
  readonly local: ClusterClient
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Asks the server for the end of its certificate; see serverCertificateEnd(). If omitted, it is not known. */
  readonly certificateEnd?: (signal: AbortSignal) => Promise<number | undefined>
}

/** The APIs of the server, and whether all of its parts answered. */
export interface SeenApis {
  readonly list: ApiEnablement[]
  readonly isWhole: boolean
  /** Monotonic. */
  readonly atMs: number
}

/** Nodes, and the pods on them or waiting for them. */
export interface SeenWorkload {
  readonly nodes: readonly Node[]
  readonly pods: readonly Pod[]
}

const byGroup = 'group'
const byNode = 'node'

const groupOfNode = ({ metadata }: Node): readonly string[] => listOf(metadata.labels?.[groupLabel])
const nodeOfPod = ({ spec }: Pod): readonly string[] => listOf(spec?.nodeName)
/** Returns the group of a pod that has no node yet. */
const groupOfWaiting = ({ spec }: Pod): readonly string[] =>
  spec?.nodeName ? [] : listOf(spec?.nodeSelector?.[groupLabel])

/**
 * Observes an API server for an agent: each fact is requested once, however many Clusters report it. Nodes
 * and pods are watched as far as summaries and groups need them.
 */
export class EdgeObserver {
  readonly nodes: Informer<Node>
  readonly pods: Informer<Pod>
  readonly #deps: EdgeObserverDeps
  readonly #timing: EdgeObserverTiming
  readonly #health: () => Promise<ConditionText>
  readonly #version: () => Promise<string>
  readonly #apis: () => Promise<SeenApis>
  readonly #certificateEnd: () => Promise<number | undefined>
  readonly #stop = new AbortController()
  #changes = 0
  #id: string | undefined

  constructor(deps: EdgeObserverDeps, timing: Partial<EdgeObserverTiming> = {}) {
    this.#deps = deps
    this.#timing = { ...edgeObserverDefaults, ...timing }
    const { local } = deps
    const { node, pod } = createSlimmer()
    this.nodes = createInformer(local.resource(resources.nodes), { transform: node }, deps)
    this.pods = createInformer(local.resource(resources.pods), { transform: pod }, deps)
    this.nodes.onChange(() => void (this.#changes += 1))
    this.pods.onChange(() => void (this.#changes += 1))
    const { freshMs, discoveryPeriodMs, certificatePeriodMs } = this.#timing
    const { certificateEnd = async () => undefined } = deps
    this.#health = this.#remembered(freshMs, (signal) => readHealth(local, signal))
    this.#version = this.#remembered(freshMs, (signal) => readVersion(local, signal))
    this.#apis = this.#remembered(discoveryPeriodMs, (signal) => this.#readApis(signal))
    this.#certificateEnd = this.#remembered(certificatePeriodMs, certificateEnd)
  }

  /** Runs until the signal aborts; rejects with its reason. */
  async run(signal: AbortSignal): Promise<void> {
    const onAbort = (): void => this.#stop.abort(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      await Promise.all([this.nodes.run(signal), this.pods.run(signal)])
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  /** Reports whether the API server is ready, as the Cluster's condition. */
  health(): Promise<ConditionText> {
    return this.#health()
  }

  version(): Promise<string> {
    return this.#version()
  }

  apis(): Promise<SeenApis> {
    return this.#apis()
  }

  /** Resolves with the end of the server's certificate, in milliseconds since the epoch; undefined if it is not known. */
  async certificateEnd(): Promise<number | undefined> {
    try {
      return await this.#certificateEnd()
    } catch (error) {
      // Everything else that is reported came over another connection, and is still true.
      this.#deps.log.debug('Certificate of API server not seen', { error: asError(error) })
      return undefined
    }
  }

  /** Resolves with the UID of the namespace kube-system; asks until it is known. */
  async id(): Promise<string> {
    this.#id ??= await this.#inTime((signal) => clusterIdOf(this.#deps.local, signal))
    return this.#id
  }

  hasSeenAll(): boolean {
    return this.nodes.hasSynced() && this.pods.hasSynced()
  }

  /** The number of changes to nodes and pods so far. While it stays the same, so do the counts. */
  get changes(): number {
    return this.#changes
  }

  /** Returns the workload of one group's nodes. If omitted, of all nodes. */
  workload(group: string | undefined): SeenWorkload {
    if (group === undefined) return { nodes: this.nodes.list(), pods: this.pods.list() }
    this.nodes.addIndex(byGroup, groupOfNode)
    this.pods.addIndex(byGroup, groupOfWaiting)
    const nodes = this.nodes.byIndex(byGroup, group)
    const pods = nodes.flatMap(({ metadata }) => this.podsOn(metadata.name ?? ''))
    return { nodes, pods: [...pods, ...this.pods.byIndex(byGroup, group)] }
  }

  /** Adds the index on first use: a cluster without virtual clusters never needs it. */
  podsOn(node: string): readonly Pod[] {
    this.pods.addIndex(byNode, nodeOfPod)
    return this.pods.byIndex(byNode, node)
  }

  async #readApis(signal: AbortSignal): Promise<SeenApis> {
    const found = await this.#deps.local.discover(signal)
    const atMs = this.#deps.clock.monotonicMs()
    return { list: apiEnablementsOf(found), isWhole: found.stale.length === 0, atMs }
  }

  /** Asks one question at a time, for all callers in the meantime or soon after. A failure is not remembered. */
  #remembered<T>(forMs: number, ask: (signal: AbortSignal) => Promise<T>): () => Promise<T> {
    const { clock } = this.#deps
    let held: { readonly answer: Promise<T>; readonly atMs: number } | undefined
    return async () => {
      const nowMs = clock.monotonicMs()
      if (held === undefined || nowMs - held.atMs >= forMs) {
        held = { answer: this.#inTime(ask), atMs: nowMs }
      }
      const mine = held
      try {
        return await mine.answer
      } catch (error) {
        if (held === mine) held = undefined
        throw error
      }
    }
  }

  /** The server may be gone without a word. */
  #inTime<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const ms = this.#timing.requestMs
    const message = `Cannot report cluster: no answer in ${ms} ms`
    return withTimeout({ ms, message, clock: this.#deps.clock }, this.#stop.signal, ask)
  }
}

function listOf(text: string | undefined): readonly string[] {
  return text ? [text] : []
}

async function readHealth(local: ClusterClient, signal: AbortSignal): Promise<ConditionText> {
  const type = conditionTypes.ready
  try {
    const answer = await local.raw({ method: 'GET', path: '/readyz', headers: {} }, signal)
    await readBody(answer.body)
    if (answer.status === 200) {
      return {
        type,
        status: 'True',
        reason: 'ClusterReady',
        message: 'cluster is healthy and ready to accept workloads',
      }
    }
    const message = `/readyz answers ${answer.status}`
    return { type, status: 'False', reason: 'ClusterNotReady', message }
  } catch (error) {
    const message = messageOf(error)
    return { type, status: 'False', reason: 'ClusterNotReachable', message }
  }
}

async function readVersion(local: ClusterClient, signal: AbortSignal): Promise<string> {
  const answer = await local.raw({ method: 'GET', path: '/version', headers: {} }, signal)
  const text = (await readBody(answer.body)).toString('utf8')
  const version: unknown = JSON.parse(text)
  const isVersion = typeof version === 'object' && version !== null && 'gitVersion' in version
  return isVersion ? String(version.gitVersion) : ''
}
