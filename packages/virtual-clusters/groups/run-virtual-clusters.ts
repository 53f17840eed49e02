import type { AnyObject, CustomResourceDefinition } from '@skerry/api'
import { runAll, type Clock, type Logger, type Random } from '@skerry/base'
import {
  createEventSink,
  createInformer,
  resources,
  type ClusterClient,
  type ResourceRef,
} from '@skerry/client'
import {
  createInformerSet,
  runController,
  selected,
  type ControllerDeps,
  type InformerSet,
} from '@skerry/controller-runtime'
import {
  MemberCluster,
  RunningClusters,
  type ClusterReporterTiming,
  type EdgeObserver,
} from '@skerry/cluster-agent'
import {
  clusterResource,
  childrenSelector,
  virtualClusterCrds,
  virtualClusterResource,
} from '@skerry/fleet-kinds'
import { workResource } from '@skerry/karmada-kinds'
import { interpreterOf, type ResourceInterpreter } from '@skerry/interpreter'
import { isolationPolicies } from '../isolation/isolation-policies.ts'
import type { EdgeNames } from '../view/edge-names.ts'
import type { IdentityOf } from './child-hub.ts'
import { GroupState, type MappedCluster } from './group-state.ts'
import { nodeGroupController, strangerController } from './node-group-controller.ts'
import { withObserved } from './observed-informers.ts'
import { virtualClusterController } from './virtual-cluster-controller.ts'
import { virtualClusterSetController } from './virtual-cluster-set-controller.ts'
import { createVirtualClusterTasks, untilDone } from './virtual-cluster-tasks.ts'
import { virtualFieldOwner } from './virtual-namespaces.ts'

export interface VirtualClustersOptions {
  /** Name of the whole cluster on the hub. */
  readonly parent: string
  readonly timing?: Partial<ClusterReporterTiming>
}

export interface VirtualClustersDeps {
  readonly local: ClusterClient
  /** The caller runs it, and `edge`, too. */
  readonly observer: EdgeObserver
  readonly edge: EdgeNames
  /** The control plane, in the name of the whole cluster. */
  readonly hub: ClusterClient
  readonly identityOf: IdentityOf
  /**
   * Whether the edge cluster's agent may watch and create the Clusters of all virtual clusters. Karmada lets
   * each agent see only its own.
   */
  readonly isFollowed: boolean
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** Groups of the edge cluster's nodes as virtual clusters. */
export interface VirtualClusters {
  /** A virtual cluster that this agent answers for; undefined of any other name. */
  find(clusterName: string): MappedCluster | undefined
  /** Follows which there are, until the signal aborts. */
  follow(signal: AbortSignal): Promise<void>
  /** Registers, reports and feeds them until the signal aborts; in one process at a time. */
  lead(signal: AbortSignal): Promise<void>
}

export function createVirtualClusters(
  options: VirtualClustersOptions,
  deps: VirtualClustersDeps,
): VirtualClusters {
  const { local, observer } = deps
  const definitions = createInformer(
    local.resource(resources.customResourceDefinitions),
    { transform: withoutSchemas },
    deps,
  )
  const { nodes, pods } = observer
  const own = createInformerSet(local, deps)
  const informers = withObserved(own, local, { nodes, pods, definitions })
  const virtualClusters = informers.informer(virtualClusterResource)
  const state = new GroupState(options.parent, virtualClusters, observer.nodes)
  return {
    find: (clusterName) => state.view(clusterName),
    async follow(signal) {
      await runAll(signal, [(scope) => informers.run(scope), (scope) => definitions.run(scope)])
    },
    async lead(signal) {
      await untilDone(() => install(local, signal), deps, signal)
      await runGroups({ options, state, informers }, deps, signal)
    },
  }
}

/** Strips schemas, which are most of a definition: only the versions are needed. */
function withoutSchemas(definition: CustomResourceDefinition): CustomResourceDefinition {
  const { apiVersion, kind, metadata, spec } = definition
  const { name, uid, resourceVersion, deletionTimestamp } = metadata
  return {
    apiVersion,
    kind,
    metadata: {
      ...(name ? { name } : {}),
      ...(uid ? { uid } : {}),
      ...(resourceVersion ? { resourceVersion } : {}),
      ...(deletionTimestamp ? { deletionTimestamp } : {}),
    },
    spec: {
      ...spec,
      versions: (spec?.versions ?? []).map(({ name: version, served, storage }) => ({
        name: version,
        served,
        storage,
      })),
    },
  }
}

const hubsWay =
  'allows virtual clusters by "skerry cluster join-command <cluster> --virtual-clusters", with names that begin with "<cluster>-"'
const karmadasWay = 'lets the identity of the agent write this Cluster, its Lease and its Works'

interface Groups {
  readonly options: VirtualClustersOptions
  readonly state: GroupState
  readonly informers: InformerSet
}

async function runGroups(
  { options, state, informers }: Groups,
  deps: VirtualClustersDeps,
  signal: AbortSignal,
): Promise<void> {
  const { local, observer, hub } = deps
  const labelSelector = childrenSelector(options.parent)
  const followed = {
    resource: selected(clusterResource, { labelSelector }),
    works: selected(workResource, { labelSelector }),
    informers: createInformerSet(hub, deps),
  }
  const identityOf: IdentityOf = (clusterName) => ({
    ...deps.identityOf(clusterName),
    ...(deps.isFollowed ? { clusters: followed } : {}),
  })
  const interpreting = { ...deps, informers: followed.informers }
  const member = new MemberCluster(local, deps)
  const running = new RunningClusters()
  let known: Promise<ResourceInterpreter> | undefined
  const interpreter = () => (known ??= interpreterOf(interpreting, signal))
  const howToAllow = deps.isFollowed ? hubsWay : karmadasWay
  const shared = { member, running, identityOf, howToAllow, interpreter, timing: options.timing }
  const parts = { ...deps, ...shared }
  const tasks = createVirtualClusterTasks(parts)
  const events = createEventSink(local, deps)
  const controllers: ControllerDeps = { ...deps, cluster: local, informers, events }
  const definitions = [
    virtualClusterSetController(state),
    nodeGroupController(state),
    strangerController(state, observer, deps.edge),
    virtualClusterController(state, tasks),
  ]
  await runAll(signal, [
    (scope) => events.run(scope),
    (scope) => member.run(scope),
    (scope) => followed.informers.run(scope),
    (scope) => running.run(scope),
    ...definitions.map((each) => (scope: AbortSignal) => runController(each, controllers, scope)),
  ])
}

/** The kinds, and what keeps pods of one virtual cluster out of another one's nodes. */
async function install(local: ClusterClient, signal: AbortSignal): Promise<void> {
  const definitions = resources.customResourceDefinitions
  for (const object of virtualClusterCrds) await apply(local, definitions, object, signal)
  for (const object of isolationPolicies()) {
    const { kind } = object
    const resource = kind === 'ValidatingAdmissionPolicy' ? policies : policyBindings
    await apply(local, resource, object, signal)
  }
}

const admission = { group: 'admissionregistration.k8s.io', version: 'v1', isNamespaced: false }
const policies = { ...admission, resource: 'validatingadmissionpolicies' }
const policyBindings = { ...admission, resource: 'validatingadmissionpolicybindings' }

async function apply(
  local: ClusterClient,
  resource: ResourceRef,
  object: AnyObject,
  signal: AbortSignal,
): Promise<void> {
  const { name = '' } = object.metadata
  const request = { name, type: 'apply', patch: object, force: true } as const
  await local.resource(resource).patch({ ...request, fieldManager: virtualFieldOwner }, signal)
}
