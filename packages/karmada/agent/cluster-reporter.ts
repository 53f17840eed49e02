import {
  isStatusError,
  type Container,
  type Lease,
  type Node,
  type ObjectMeta,
  type Pod,
} from '@skerry/api'
import {
  createBackoff,
  runAll,
  withTimeout,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import {
  createInformer,
  readBody,
  resources,
  type Cluster as Api,
  type Informer,
} from '@skerry/client'
import {
  clusterNamespace,
  clusterResource,
  conditionTypes,
  type ApiEnablement,
  type Cluster,
  type ClusterSpec,
  type ClusterStatus,
} from '../cluster/cluster.ts'
import { clusterFinalizer } from '../cluster/cluster-controller.ts'
import { conditionOf, withCondition, type ConditionText } from '../cluster/conditions.ts'
import { clusterIdOf } from './cluster-id.ts'
import { observedAnnotations, type SeenTimes } from './observed-times.ts'
import { apiEnablementsOf, nodeSummaryOf, resourceSummaryOf } from './cluster-facts.ts'

export interface ClusterReporterOptions {
  readonly name: string
  /** Where it is, as its operator says. */
  readonly place?: Pick<ClusterSpec, 'provider' | 'region' | 'zones'>
  readonly labels?: Readonly<Record<string, string>>
  readonly timing?: Partial<ClusterReporterTiming>
}

export interface ClusterReporterTiming {
  readonly statusPeriodMs: number
  readonly leaseSeconds: number
  /** The list of APIs changes seldom, and is long. */
  readonly discoveryPeriodMs: number
  /** For one request to either API server. */
  readonly requestMs: number
}

/** Karmada's, but for the list of APIs. */
export const clusterReporterDefaults: Readonly<ClusterReporterTiming> = Object.freeze({
  statusPeriodMs: 10_000,
  leaseSeconds: 40,
  discoveryPeriodMs: 60_000,
  requestMs: 10_000,
})

/** Whose fields those are that the agent's command line gives. */
const fieldOwner = 'skerry-agent'

export interface ClusterReporterDeps {
  readonly hub: Api
  readonly local: Api
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** Registers this cluster with the hub and tells how it is, until the signal aborts. */
export async function runClusterReporter(
  options: ClusterReporterOptions,
  deps: ClusterReporterDeps,
  signal: AbortSignal,
): Promise<void> {
  const reporter = new ClusterReporter(options, deps)
  await runAll(signal, [
    (scope) => reporter.nodes.run(scope),
    (scope) => reporter.pods.run(scope),
    (scope) => reportForever(reporter, deps, scope),
  ])
}

async function reportForever(
  reporter: ClusterReporter,
  { clock, random, log }: ClusterReporterDeps,
  signal: AbortSignal,
): Promise<never> {
  const backoff = createBackoff({ initialMs: 250, maxMs: 10_000, jitter: 0.5 }, random)
  for (;;) {
    try {
      const isTaken = await reporter.report(signal)
      if (isTaken) backoff.reset()
      await clock.sleep(isTaken ? reporter.periodMs : backoff.nextMs(), signal)
    } catch (error) {
      signal.throwIfAborted()
      const waitMs = backoff.nextMs()
      const cause = error instanceof Error ? error : new Error(String(error))
      log.info('Cluster not reported yet', { error: cause, waitMs: Math.round(waitMs) })
      await clock.sleep(waitMs, signal)
    }
  }
}

class ClusterReporter {
  readonly nodes: Informer<Node>
  readonly pods: Informer<Pod>
  readonly periodMs: number
  readonly #options: ClusterReporterOptions
  readonly #deps: ClusterReporterDeps
  readonly #timing: ClusterReporterTiming
  #id: string | undefined
  #apis: { readonly list: ApiEnablement[]; readonly atMs: number } | undefined
  #hasBeenReady = false
  #hasTold = false

  constructor(options: ClusterReporterOptions, deps: ClusterReporterDeps) {
    this.#options = options
    this.#deps = deps
    this.#timing = { ...clusterReporterDefaults, ...options.timing }
    this.periodMs = this.#timing.statusPeriodMs
    this.nodes = createInformer(deps.local.resource(resources.nodes), { transform: slimNode }, deps)
    this.pods = createInformer(deps.local.resource(resources.pods), { transform: slimPod }, deps)
  }

  /** One round: the Cluster object, its status, the lease. False while the hub has not taken it in. */
  async report(signal: AbortSignal): Promise<boolean> {
    const health = await this.#readHealth(signal)
    const cluster = await this.#ensureCluster(health.status === 'True', signal)
    if (cluster === undefined) return false
    // Before the control plane has taken a Cluster in, its status is not ours to write.
    if (!cluster.metadata.finalizers?.includes(clusterFinalizer)) return false
    await this.#writeStatus(cluster, health, signal)
    this.#hasBeenReady ||= health.status === 'True'
    // A site that was never ready must not look alive.
    if (this.#hasBeenReady) await this.#renewLease(cluster, signal)
    return true
  }

  async #readHealth(signal: AbortSignal): Promise<ConditionText> {
    const type = conditionTypes.ready
    try {
      const answer = await this.#inTime(signal, (scope) =>
        this.#deps.local.raw({ method: 'GET', path: '/readyz', headers: {} }, scope),
      )
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
      signal.throwIfAborted()
      const message = error instanceof Error ? error.message : String(error)
      return { type, status: 'False', reason: 'ClusterNotReachable', message }
    }
  }

  /** Undefined while neither the hub knows this cluster nor the cluster can say who it is. */
  async #ensureCluster(isReady: boolean, signal: AbortSignal): Promise<Cluster | undefined> {
    const found = await this.#findCluster(signal)
    if (found === undefined && !isReady) return undefined
    this.#id ??= await this.#inTime(signal, (scope) => clusterIdOf(this.#deps.local, scope)).catch(
      (error: unknown) => {
        if (found === undefined) throw error
        return undefined
      },
    )
    // What it is said to be stays said until it can be asked again.
    if (this.#id === undefined) return found
    const { name } = this.#options
    if (found?.spec.id !== undefined && found.spec.id !== this.#id) {
      throw new Error(
        `Cannot report cluster "${name}": the hub knows another cluster under that name; delete it there, or choose another name`,
      )
    }
    const wanted = this.#wanted(this.#id)
    if (found !== undefined && this.#hasTold && says(found, wanted)) return found
    const told = await this.#tell(wanted, signal)
    this.#hasTold = true
    if (found === undefined) this.#deps.log.info('Cluster registered', { cluster: name })
    return told
  }

  async #findCluster(signal: AbortSignal): Promise<Cluster | undefined> {
    const { name } = this.#options
    const clusters = this.#deps.hub.resource(clusterResource)
    try {
      return await this.#inTime(signal, (scope) => clusters.get({ name }, scope))
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return undefined
      throw error
    }
  }

  #wanted(id: string): Cluster {
    const { name, labels, place } = this.#options
    return {
      apiVersion: 'cluster.karmada.io/v1alpha1',
      kind: 'Cluster',
      metadata: { name, ...(labels ? { labels: { ...labels } } : {}) },
      spec: { syncMode: 'Pull', id, ...place },
    }
  }

  /** By apply: what this agent said at an earlier start, and says no more, goes. */
  #tell(wanted: Cluster, signal: AbortSignal): Promise<Cluster> {
    const { name } = this.#options
    const applied = {
      name,
      type: 'apply',
      patch: wanted,
      fieldManager: fieldOwner,
      force: true,
    } as const
    return this.#inTime(signal, (scope) =>
      this.#deps.hub.resource(clusterResource).patch(applied, scope),
    )
  }

  async #writeStatus(cluster: Cluster, health: ConditionText, signal: AbortSignal): Promise<void> {
    const { clock, hub } = this.#deps
    const known = cluster.status ?? {}
    const conditions = withCondition(known.conditions ?? [], health, clock.now())
    const isHealthy = health.status === 'True'
    const facts = isHealthy ? await this.#collect(known, signal) : {}
    const status: ClusterStatus = { ...known, ...facts, conditions }
    const told = { status: known, annotations: cluster.metadata.annotations ?? {} }
    const annotations = observedAnnotations(told, status, isHealthy ? this.#seenTimes() : {})
    const wasReady = conditionOf(known.conditions, conditionTypes.ready)?.status
    if (wasReady !== health.status) {
      this.#deps.log.info('Cluster state changed', { state: health.reason })
    }
    const isTold = JSON.stringify(annotations) === JSON.stringify(told.annotations)
    if (isTold && JSON.stringify(status) === JSON.stringify(known)) return
    const metadata = { ...cluster.metadata, annotations }
    await this.#inTime(signal, (scope) =>
      hub.resource(clusterResource).updateStatus({ ...cluster, metadata, status }, scope),
    )
  }

  async #collect(known: ClusterStatus, signal: AbortSignal): Promise<ClusterStatus> {
    const { local } = this.#deps
    const version = await this.#inTime(signal, (scope) => readVersion(local, scope))
    const hasSeenAll = this.nodes.hasSynced() && this.pods.hasSynced()
    return {
      kubernetesVersion: version,
      apiEnablements: await this.#readApis(signal),
      ...(hasSeenAll
        ? {
            nodeSummary: nodeSummaryOf(this.nodes.list()),
            resourceSummary: {
              ...known.resourceSummary,
              ...resourceSummaryOf(this.nodes.list(), this.pods.list()),
            },
          }
        : {}),
    }
  }

  /** Of the round that has just been collected. */
  #seenTimes(): SeenTimes {
    const { clock } = this.#deps
    const nowMs = clock.now()
    const hasSeenAll = this.nodes.hasSynced() && this.pods.hasSynced()
    const apisMs = this.#apis && nowMs - (clock.monotonicMs() - this.#apis.atMs)
    return {
      version: nowMs,
      ...(hasSeenAll ? { nodes: nowMs, resources: nowMs } : {}),
      ...(apisMs === undefined ? {} : { apis: apisMs }),
    }
  }

  async #readApis(signal: AbortSignal): Promise<ApiEnablement[]> {
    const { clock, local } = this.#deps
    const nowMs = clock.monotonicMs()
    if (this.#apis && nowMs - this.#apis.atMs < this.#timing.discoveryPeriodMs) {
      return this.#apis.list
    }
    const found = await this.#inTime(signal, (scope) => local.discover(scope))
    const list = apiEnablementsOf(found)
    this.#apis = { list, atMs: nowMs }
    return list
  }

  async #renewLease(cluster: Cluster, signal: AbortSignal): Promise<void> {
    const { hub, clock } = this.#deps
    const leases = hub.resource(resources.leases)
    const key = { namespace: clusterNamespace, name: this.#options.name }
    const renewTime = new Date(clock.now()).toISOString().replace('Z', '000Z')
    const spec = {
      holderIdentity: key.name,
      leaseDurationSeconds: this.#timing.leaseSeconds,
      renewTime,
    }
    await this.#inTime(signal, async (scope) => {
      try {
        await leases.patch({ ...key, type: 'merge', patch: { spec } }, scope)
      } catch (error) {
        if (!isStatusError(error, 'NotFound')) throw error
        await leases.create(leaseOf(cluster, { ...spec, acquireTime: renewTime }), scope)
      }
    })
  }

  /** Either server may be gone without a word. */
  #inTime<T>(signal: AbortSignal, work: (scope: AbortSignal) => Promise<T>): Promise<T> {
    const ms = this.#timing.requestMs
    return withTimeout(
      { ms, message: `Cannot report cluster: no answer in ${ms} ms` },
      signal,
      work,
    )
  }
}

/** Whether all that is wanted is there; others may have added to it. */
function says(found: Cluster, { metadata, spec }: Cluster): boolean {
  const has = (there: object, wanted: object): boolean => {
    const known = new Map<string, unknown>(Object.entries(there))
    return Object.entries(wanted).every(
      ([key, value]) => JSON.stringify(known.get(key)) === JSON.stringify(value),
    )
  }
  return has(found.metadata.labels ?? {}, metadata.labels ?? {}) && has(found.spec, spec)
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

async function readVersion(local: Api, signal: AbortSignal): Promise<string> {
  const answer = await local.raw({ method: 'GET', path: '/version', headers: {} }, signal)
  const text = (await readBody(answer.body)).toString('utf8')
  const version: unknown = JSON.parse(text)
  const isVersion = typeof version === 'object' && version !== null && 'gitVersion' in version
  return isVersion ? String(version.gitVersion) : ''
}

/** All that the summaries read: the rest of a thousand pods need not be kept. */
function slimPod({ apiVersion, kind, metadata, spec, status }: Pod): Pod {
  return {
    apiVersion,
    kind,
    metadata: slimMetadata(metadata),
    spec: {
      ...(spec?.nodeName ? { nodeName: spec.nodeName } : {}),
      ...(spec?.overhead ? { overhead: spec.overhead } : {}),
      containers: (spec?.containers ?? []).map(slimContainer),
      initContainers: (spec?.initContainers ?? []).map(slimContainer),
    },
    status: status?.phase ? { phase: status.phase } : {},
  }
}

function slimContainer({ name, resources: asked, restartPolicy }: Container): Container {
  return {
    name,
    ...(asked ? { resources: asked } : {}),
    ...(restartPolicy ? { restartPolicy } : {}),
  }
}

function slimNode({ apiVersion, kind, metadata, status }: Node): Node {
  const { allocatable, conditions } = status ?? {}
  return {
    apiVersion,
    kind,
    metadata: slimMetadata(metadata),
    status: { ...(allocatable ? { allocatable } : {}), ...(conditions ? { conditions } : {}) },
  }
}

function slimMetadata({
  annotations: _a,
  labels: _l,
  managedFields: _m,
  ...rest
}: ObjectMeta): ObjectMeta {
  return rest
}
