import type { AnyObject, KubeObject } from '@skerry/api'
import { runAll, type Clock, type Logger, type Random } from '@skerry/base'
import {
  createEventSink,
  type ClusterClient,
  type Informer,
  type ResourceRef,
  type TypedResource,
} from '@skerry/client'
import {
  createInformerSet,
  runController,
  selected,
  type ControllerDefinition,
  type ControllerDeps,
  type InformerSet,
} from '@skerry/controller-runtime'
import { executionNamespace } from '@skerry/fleet-kinds'
import { workResource, type Work } from '@skerry/karmada-kinds'
import { interpreterOf, type ResourceInterpreter } from '@skerry/interpreter'
import { executionController } from './execution-controller.ts'
import { ownCluster, type FollowedClusters } from './followed-clusters.ts'
import { asTheyAre, type ManifestMapping } from './manifest-mapping.ts'
import { MemberCluster } from './member-cluster.ts'
import { NamespaceInformer } from './namespace-informer.ts'
import type { WorkContext } from './work-context.ts'
import { workStatusController } from './work-status-controller.ts'

export interface WorksOptions {
  /** The name under which this agent is registered. */
  readonly clusterName: string
  /** Maps manifests to the cluster. If omitted, they are applied unchanged. */
  readonly mapping?: ManifestMapping
  /**
   * Called with each object before it is created or changed: creates its namespace, or rejects with the
   * reason against it.
   */
  readonly prepare?: (object: AnyObject, signal: AbortSignal) => Promise<void>
  /** Returns further controllers of these Works. */
  readonly controllers?: (shared: WorkContext) => readonly ControllerDefinition[]
  /** Interprets kinds. If omitted, native kinds, and others by the control plane's rules. */
  readonly interpreter?: ResourceInterpreter
}

/** The parts that Works of several clusters share; these Works create omitted parts for themselves. */
export interface SharedWorksParts {
  /** The caller runs it. */
  readonly member?: MemberCluster
  /** The informers that watch their Clusters. */
  readonly clusters?: FollowedClusters
}

export interface WorksDeps extends SharedWorksParts {
  /** The control plane, a hub or Karmada. */
  readonly hub: ClusterClient
  readonly local: ClusterClient
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** Pulls the Works of one cluster and applies them there, until the signal aborts. */
export async function runWorks(
  { clusterName, mapping = asTheyAre, prepare, ...options }: WorksOptions,
  { hub, local, member: given, clusters, ...deps }: WorksDeps,
  signal: AbortSignal,
): Promise<void> {
  const member = given ?? new MemberCluster(local, deps)
  const own = createInformerSet(hub, deps)
  using followed =
    clusters &&
    new NamespaceInformer(
      clusters.informers.informer(clusters.works),
      executionNamespace(clusterName),
    )
  const informers = clusters && followed ? withFollowed(own, clusters, { followed, hub }) : own
  const interpreter =
    options.interpreter ?? (await interpreterOf({ ...deps, hub, informers }, signal))
  const shared: WorkContext = {
    clusterName,
    works:
      clusters?.works ?? selected(workResource, { namespace: executionNamespace(clusterName) }),
    clusters: clusters?.resource ?? ownCluster(clusterName),
    member,
    mapping,
    ...(prepare ? { prepare } : {}),
    interpreter,
  }
  const others = options.controllers?.(shared) ?? []
  const events = createEventSink(hub, deps)
  const controllers: ControllerDeps = { ...deps, cluster: hub, informers, events }
  await runAll(signal, [
    (scope) => own.run(scope),
    (scope) => events.run(scope),
    ...(given ? [] : [(scope: AbortSignal) => member.run(scope)]),
    (scope) => runController(executionController(shared), controllers, scope),
    (scope) => runController(workStatusController(shared), controllers, scope),
    ...others.map((each) => (scope: AbortSignal) => runController(each, controllers, scope)),
  ])
}

/**
 * Combines the informers: Clusters and Works are watched elsewhere, and written by the hub's client; all
 * others are the set's own.
 */
function withFollowed(
  own: InformerSet,
  { resource, works, informers }: FollowedClusters,
  { followed, hub }: { readonly followed: NamespaceInformer<Work>; readonly hub: ClusterClient },
): InformerSet {
  const isFollowed = (asked: ResourceRef): boolean => asked === resource || asked === works
  return {
    informer<T extends KubeObject>(asked: TypedResource<T>): Informer<T> {
      // The requested resource is the one of Works, so the informer holds Works.
      if (isSame(asked, works)) return followed as unknown as Informer<T>
      return (isFollowed(asked) ? informers : own).informer(asked)
    },
    existing: (asked) => (isFollowed(asked) ? informers : own).existing(asked),
    client: (asked) => (isFollowed(asked) ? informers.client(asked, hub) : own.client(asked)),
    whenSynced: (signal) => own.whenSynced(signal),
    run: (signal) => own.run(signal),
  }
}

/** The same constant, whatever their objects are called by. */
function isSame(left: ResourceRef, right: ResourceRef): boolean {
  return left === right
}
