import { isStatusError, type Lease } from '@skerry/api'
import {
  asError,
  createBackoff,
  createWakeFlag,
  logFailure,
  withTimeout,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import { resources, type ClusterClient, type ResourceClient } from '@skerry/client'
import {
  apiCertificateExpiresAnnotation,
  apiTime,
  appliesWorksAnnotation,
  clusterNamespace,
  clusterResource,
  conditionTypes,
  type Cluster,
  type ClusterSpec,
  type ClusterStatus,
  type ResourceModel,
  conditionOf,
  withCondition,
  type ConditionText,
  groupLabel,
} from '@skerry/fleet-kinds'
import { clusterFinalizer } from '@skerry/membership'
import type { FollowedClusters } from '../work/followed-clusters.ts'
import { allocatableModelings } from './allocatable-modelings.ts'
import { nodeSummaryOf, resourceSummaryOf } from './cluster-facts.ts'
import type { EdgeObserver, SeenApis } from './edge-observer.ts'
import { observedAnnotations, type SeenTimes } from './observed-times.ts'
import type { RoundGate } from './round-gate.ts'
import { isSameFacts } from './same-facts.ts'
import { clusterAgentBounds, clusterReporterDefaults } from '../limits-table.ts'

export interface ClusterReporterOptions {
  readonly name: string
  /**
   * Derives this cluster's id from the edge cluster's id, the UID of the namespace kube-system. If omitted,
   * the same id.
   */
  readonly idOf?: (edgeId: string) => string
  /** Limits the report to nodes with this value of `groupLabel`. If omitted, all nodes. */
  readonly group?: string
  /** Where it is, as its operator configured. */
  readonly place?: Pick<ClusterSpec, 'provider' | 'region' | 'zones'>
  readonly labels?: Readonly<Record<string, string>>
  /** False reports to the hub that nothing can be placed here. */
  readonly appliesWorks?: boolean
  /** True in push mode: a user wrote its Cluster, and it has no lease. */
  readonly isPushed?: boolean
  readonly timing?: Partial<ClusterReporterTiming>
  /** Called after each round with the Cluster as found, or with the error. */
  readonly onRound?: (round: ReportedRound) => void
}

export interface ReportedRound {
  /** Undefined while the hub does not have it, or has not accepted it. */
  readonly cluster?: Cluster
  readonly error?: Error
}

export interface ClusterReporterTiming {
  readonly statusPeriodMs: number
  readonly leaseSeconds: number
  /** The same while the hub sees by the open tunnel that the agent is alive, and how often it is renewed then. */
  readonly presentLeaseSeconds: number
  readonly presentRenewMs: number
  /** The timeout of one request to the hub. */
  readonly requestMs: number
}

/** The owner of the fields that come from the agent's command line. */
const fieldOwner = 'skerry-agent'

export interface ClusterReporterDeps {
  readonly hub: ClusterClient
  readonly observer: EdgeObserver
  /** Watches and creates the Cluster together with others. If omitted, it is read once in each round. */
  readonly clusters?: FollowedClusters
  /** Reports whether the hub sees by an open tunnel that the agent is alive. If omitted, it sees leases only. */
  readonly isPresent?: () => boolean
  /** Limits the concurrent rounds of many Clusters. If omitted, a round never waits. */
  readonly gate?: RoundGate
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** Registers this cluster with the hub and reports its status until the signal aborts. */
export async function runClusterReporter(
  options: ClusterReporterOptions,
  deps: ClusterReporterDeps,
  signal: AbortSignal,
): Promise<never> {
  const { clock, random, log } = deps
  const reporter = new ClusterReporter(options, deps)
  const isDue = createWakeFlag()
  using _nodes = onRegrouping(options.group, deps, () => isDue.raise())
  const backoff = createBackoff(clusterAgentBounds.clusterReporter.retry, random)
  for (;;) {
    try {
      const round = () => reporter.report(signal)
      const cluster = await (deps.gate ? deps.gate.pass(signal, round) : round())
      options.onRound?.(cluster === undefined ? {} : { cluster })
      if (cluster) backoff.reset()
      const waitMs = cluster ? reporter.periodMs : backoff.nextMs()
      using _timer = clock.setTimer(waitMs, () => isDue.raise())
      await isDue.wait(signal)
    } catch (error) {
      signal.throwIfAborted()
      const waitMs = backoff.nextMs()
      options.onRound?.({ error: asError(error) })
      const fields = { waitMs: Math.round(waitMs) }
      logFailure(log, { subject: 'Report', message: 'Cluster not reported yet', error, fields })
      await clock.sleep(waitMs, signal)
    }
  }
}

const { settleMs } = clusterAgentBounds.clusterReporter

/** Reports at once when nodes join or leave the group, so that schedulers need not wait for the next round. */
function onRegrouping(
  group: string | undefined,
  { observer, clock }: ClusterReporterDeps,
  tell: () => void,
): Disposable | undefined {
  if (group === undefined) return undefined
  return observer.nodes.onChange((change) => {
    const before = change.old?.metadata.labels?.[groupLabel]
    const now = change.object.metadata.labels?.[groupLabel]
    const isSame = change.type === 'updated' && before === now
    if (!isSame && (before === group || now === group)) clock.setTimer(settleMs, tell)
  })
}

const otherCluster: ConditionText = Object.freeze({
  type: conditionTypes.ready,
  status: 'False',
  reason: 'ClusterNotReachable',
  message: 'another cluster answers at spec.apiEndpoint: its id is not spec.id',
})

class ClusterReporter {
  readonly periodMs: number
  readonly #options: ClusterReporterOptions
  readonly #deps: ClusterReporterDeps
  readonly #timing: ClusterReporterTiming
  #id: string | undefined
  #hasBeenReady = false
  /** The lease as it was written last. */
  #leased: { readonly isLong: boolean; readonly atMs: number } | undefined
  #hasReported = false
  /** The agent's configured labels or place changed; no status has the time of it yet. */
  #hasNewDescription = false
  #counted:
    | { readonly changes: number; readonly grades: string; readonly summaries: Summaries }
    | undefined

  constructor(options: ClusterReporterOptions, deps: ClusterReporterDeps) {
    this.#options = options
    this.#deps = deps
    this.#timing = { ...clusterReporterDefaults, ...options.timing }
    this.periodMs = this.#timing.statusPeriodMs
  }

  /**
   * Runs one round: the Cluster object, its status, the lease. Resolves undefined while the hub has not
   * accepted it.
   */
  async report(signal: AbortSignal): Promise<Cluster | undefined> {
    const seen = await this.#deps.observer.health()
    signal.throwIfAborted()
    const cluster = await this.#ensureCluster(seen.status === 'True', signal)
    if (cluster === undefined) return undefined
    const health = this.#isOther(cluster) ? otherCluster : seen
    // Until the control plane has accepted a Cluster, its status is not ours to write.
    if (!cluster.metadata.finalizers?.includes(clusterFinalizer)) return undefined
    this.#hasBeenReady ||= health.status === 'True'
    // A site that was never ready must not look alive.
    const hasLease = this.#hasBeenReady && this.#options.isPushed !== true
    // A Cluster that says that it is Ready while its lease is old would be called Unknown again at once.
    const isBack = conditionOf(cluster.status?.conditions, conditionTypes.ready)?.status !== 'True'
    if (hasLease && isBack) await this.#renewLease(cluster, signal)
    await this.#writeStatus(cluster, health, signal)
    if (hasLease && !isBack && this.#isLeaseDue()) await this.#renewLease(cluster, signal)
    return cluster
  }

  /** While the tunnel is a sign of life, each renewal would be a write that says nothing new. */
  #isLeaseDue(): boolean {
    const { clock } = this.#deps
    if (!this.#isPresent() || this.#leased?.isLong !== true) return true
    return clock.monotonicMs() - this.#leased.atMs >= this.#timing.presentRenewMs
  }

  #isPresent(): boolean {
    return this.#deps.isPresent?.() === true
  }

  /** Resolves undefined while the hub does not know this cluster and the cluster cannot identify itself. */
  async #ensureCluster(isReady: boolean, signal: AbortSignal): Promise<Cluster | undefined> {
    const found = await this.#findCluster(signal)
    const { name, isPushed } = this.#options
    if (found === undefined && (!isReady || isPushed)) return undefined
    this.#id ??= await this.#readId(found !== undefined, signal)
    // The recorded id stays until the cluster can be asked again.
    if (this.#id === undefined || isPushed) return found
    if (found && this.#isOther(found)) {
      throw new Error(
        `Cannot report cluster "${name}": the hub knows another cluster under that name; delete it there, or choose another name`,
      )
    }
    const wanted = this.#wanted(this.#id)
    if (found !== undefined && this.#hasReported && says(found, wanted)) return found
    const told = await this.#tell(wanted, found === undefined, signal)
    this.#hasReported = true
    this.#hasNewDescription ||= found === undefined || saidOf(found) !== saidOf(told)
    if (found === undefined) this.#deps.log.info('Cluster registered', { cluster: name })
    return told
  }

  #isOther({ spec }: Cluster): boolean {
    return this.#id !== undefined && spec.id !== undefined && spec.id !== this.#id
  }

  async #readId(isRegistered: boolean, signal: AbortSignal): Promise<string | undefined> {
    const { idOf = (edgeId) => edgeId } = this.#options
    try {
      return idOf(await this.#deps.observer.id())
    } catch (error) {
      signal.throwIfAborted()
      if (!isRegistered) throw error
      return undefined
    }
  }

  async #findCluster(signal: AbortSignal): Promise<Cluster | undefined> {
    const { name } = this.#options
    const { clusters } = this.#deps
    if (clusters !== undefined) {
      const followed = clusters.informers.informer(clusters.resource)
      await this.#inTime(signal, (scope) => followed.whenSynced(scope))
      return followed.get({ name })
    }
    try {
      return await this.#inTime(signal, (scope) => this.#clusters().get({ name }, scope))
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return undefined
      throw error
    }
  }

  #wanted(id: string): Cluster {
    const { name, labels, place, appliesWorks } = this.#options
    const annotations = { [appliesWorksAnnotation]: 'false' }
    return {
      apiVersion: 'cluster.karmada.io/v1alpha1',
      kind: 'Cluster',
      metadata: {
        name,
        ...(labels ? { labels: { ...labels } } : {}),
        ...(appliesWorks === false ? { annotations } : {}),
      },
      spec: { syncMode: 'Pull', id, ...place },
    }
  }

  /** Uses apply, so that a field that this agent set at an earlier start and no longer sets is removed. */
  #tell(wanted: Cluster, isNew: boolean, signal: AbortSignal): Promise<Cluster> {
    const { name } = this.#options
    const { clusters } = this.#deps
    const client =
      clusters && isNew ? clusters.informers.client(clusters.resource) : this.#clusters()
    const applied = {
      name,
      type: 'apply',
      patch: wanted,
      fieldManager: fieldOwner,
      force: true,
    } as const
    return this.#inTime(signal, (scope) => client.patch(applied, scope))
  }

  /** Returns the client whose writes show where the Cluster is read. */
  #clusters(): ResourceClient<Cluster> {
    const { clusters, hub } = this.#deps
    if (clusters === undefined) return hub.resource(clusterResource)
    return clusters.informers.client(clusters.resource, hub)
  }

  async #writeStatus(cluster: Cluster, health: ConditionText, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps
    const known = cluster.status ?? {}
    const isHealthy = health.status === 'True'
    const seen = isHealthy ? await this.#collect(cluster) : nothingSeen
    const conditions = [health, ...seen.texts].reduce(
      (list, text) => withCondition(list, text, clock.now()),
      known.conditions ?? [],
    )
    const status: ClusterStatus = { ...known, ...seen.facts, conditions }
    const told = {
      status: known,
      annotations: cluster.metadata.annotations ?? {},
      hasNewDescription: this.#hasNewDescription,
    }
    const annotations = { ...observedAnnotations(told, status, seen.times), ...seen.annotations }
    const wasReady = conditionOf(known.conditions, conditionTypes.ready)?.status
    if (wasReady !== health.status) {
      const { name } = this.#options
      this.#deps.log.info('Cluster state changed', { cluster: name, state: health.reason })
    }
    const isTold = JSON.stringify(annotations) === JSON.stringify(told.annotations)
    if (isTold && isSameFacts(status, known)) return
    const metadata = { ...cluster.metadata, annotations }
    await this.#inTime(signal, (scope) =>
      this.#clusters().updateStatus({ ...cluster, metadata, status }, scope),
    )
    if (isHealthy) this.#hasNewDescription = false
  }

  /** Counts again only when a node or pod has changed: five thousand pods take a tenth of a second. */
  #summaries(models: readonly ResourceModel[]): Summaries {
    const { observer } = this.#deps
    const { changes } = observer
    const grades = JSON.stringify(models)
    if (this.#counted?.changes === changes && this.#counted.grades === grades) {
      return this.#counted.summaries
    }
    const { nodes, pods } = observer.workload(this.#options.group)
    const modelings = models.length === 0 ? [] : allocatableModelings(models, nodes, pods)
    const summaries = {
      nodeSummary: nodeSummaryOf(nodes),
      resourceSummary: {
        ...resourceSummaryOf(nodes, pods),
        ...(modelings.length === 0 ? {} : { allocatableModelings: modelings }),
      },
    }
    this.#counted = { changes, grades, summaries }
    return summaries
  }

  async #collect({ spec, status: known = {} }: Cluster): Promise<Collected> {
    const { observer, clock } = this.#deps
    const kubernetesVersion = await observer.version()
    const apis = await observer.apis()
    const nowMs = clock.now()
    const apisMs = nowMs - (clock.monotonicMs() - apis.atMs)
    const texts = [enablementsText(apis)]
    const facts = { kubernetesVersion, apiEnablements: apis.list }
    // In push mode no agent at the cluster knows its place.
    const said = this.#options.isPushed ? {} : { labels: nowMs, place: nowMs }
    const times = { version: nowMs, apis: apisMs, ...said }
    const annotations = await this.#certificateAnnotation()
    if (!observer.hasSeenAll()) return { facts, texts, times, annotations }
    const { nodeSummary, resourceSummary } = this.#summaries(spec.resourceModels ?? [])
    return {
      facts: {
        ...facts,
        nodeSummary,
        resourceSummary: { ...known.resourceSummary, ...resourceSummary },
      },
      texts,
      times: { ...times, nodes: nowMs, resources: nowMs },
      annotations,
    }
  }

  /** The server is the edge cluster's: its virtual clusters have none of their own. */
  async #certificateAnnotation(): Promise<Record<string, string>> {
    if (this.#options.group !== undefined) return {}
    const endMs = await this.#deps.observer.certificateEnd()
    return endMs === undefined ? {} : { [apiCertificateExpiresAnnotation]: apiTime(endMs) }
  }

  async #renewLease(cluster: Cluster, signal: AbortSignal): Promise<void> {
    const { hub, clock } = this.#deps
    const leases = hub.resource(resources.leases)
    const key = { namespace: clusterNamespace, name: this.#options.name }
    const renewTime = new Date(clock.now()).toISOString().replace('Z', '000Z')
    const isLong = this.#isPresent()
    const { leaseSeconds, presentLeaseSeconds } = this.#timing
    const leaseDurationSeconds = isLong ? presentLeaseSeconds : leaseSeconds
    const spec = { holderIdentity: key.name, leaseDurationSeconds, renewTime }
    await this.#inTime(signal, async (scope) => {
      try {
        await leases.patch({ ...key, type: 'merge', patch: { spec } }, scope)
      } catch (error) {
        if (!isStatusError(error, 'NotFound')) throw error
        await leases.create(leaseOf(cluster, { ...spec, acquireTime: renewTime }), scope)
      }
    })
    this.#leased = { isLong, atMs: clock.monotonicMs() }
  }

  /** The hub may be gone without a word. */
  #inTime<T>(signal: AbortSignal, work: (scope: AbortSignal) => Promise<T>): Promise<T> {
    const ms = this.#timing.requestMs
    const message = `Cannot report cluster: no answer in ${ms} ms`
    return withTimeout({ ms, message, clock: this.#deps.clock }, signal, work)
  }
}

type Summaries = Required<Pick<ClusterStatus, 'nodeSummary' | 'resourceSummary'>>

interface Collected {
  readonly facts: Partial<ClusterStatus>
  readonly texts: readonly ConditionText[]
  readonly times: SeenTimes
  readonly annotations: Readonly<Record<string, string>>
}

const nothingSeen: Collected = { facts: {}, texts: [], times: {}, annotations: {} }

/** Karmada's scheduler trusts the absence of an API only if this condition is True. */
function enablementsText({ list, isWhole }: SeenApis): ConditionText {
  const type = conditionTypes.completeApis
  if (list.length === 0) {
    const message = 'collected empty APIEnablements from the cluster'
    return { type, status: 'False', reason: 'Empty', message }
  }
  if (!isWhole) {
    const message = `might collect partial APIEnablements(${list.length}) from the cluster`
    return { type, status: 'False', reason: 'Partial', message }
  }
  const message = 'collected complete APIEnablements from the cluster'
  return { type, status: 'True', reason: 'Complete', message }
}

/** Returns the facts that an agent's command line sets, as one text to compare. */
function saidOf({ metadata, spec: { provider, region, zones } }: Cluster): string {
  const labels = Object.entries(metadata.labels ?? {}).map(([key, value]) => `${key}=${value}`)
  return JSON.stringify([labels.toSorted(), provider, region, zones])
}

/** Reports whether all wanted fields are set; others may have added more. */
function says(found: Cluster, { metadata, spec }: Cluster): boolean {
  const has = (there: object, wanted: object): boolean => {
    const known = new Map<string, unknown>(Object.entries(there))
    return Object.entries(wanted).every(
      ([key, value]) => JSON.stringify(known.get(key)) === JSON.stringify(value),
    )
  }
  return (
    has(found.metadata.labels ?? {}, metadata.labels ?? {}) &&
    has(found.metadata.annotations ?? {}, metadata.annotations ?? {}) &&
    has(found.spec, spec)
  )
}

function leaseOf({ metadata, apiVersion, kind }: Cluster, spec: Lease['spec']): Lease {
  const { name = '', uid = '' } = metadata
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      namespace: clusterNamespace,
      name,
      ownerReferences: [{ apiVersion, kind, name, uid }],
    },
    spec,
  }
}
