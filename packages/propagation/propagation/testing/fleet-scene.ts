import { builtinKinds } from '@skerry/kinds'
import type { AnyObject, KubeObject } from '@skerry/api'
import { linkedSignal, runAll, silentLogger, systemClock, systemRandom } from '@skerry/base'
import {
  createCluster,
  createEventSink,
  type ClusterClient,
  type ObjectKey,
  type TypedResource,
} from '@skerry/client'
import { createInformerSet, lateControllers } from '@skerry/controller-runtime'
import { startTestApiServer, untilObject } from '@skerry/testing'
import { runWorks } from '@skerry/cluster-agent'
import { clusterKind, clusterResource, executionNamespace } from '@skerry/fleet-kinds'
import { karmadaKinds, type TenantRules } from '@skerry/karmada-kinds'
import { clusterController } from '@skerry/membership'
import { apiEnablementsOf } from '../../../cluster-agent/report/cluster-facts.ts'
import { createFleetFailover } from '../../failover/fleet-failover.ts'
import { createFleetScheduler } from '../../placement/binding-scheduler.ts'
import { propagationControllers } from '../propagation-controllers.ts'
import { propagationTriggers } from '../propagation-triggers.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'test' }

/** A hub that propagates and places, and edges whose agents apply Works; all in this process. */
export interface FleetScene extends AsyncDisposable {
  readonly hub: ClusterClient
  /** Returns an edge by its cluster's name. */
  edge(name: string): ClusterClient
  /** Stops the hub's controllers, runs `meanwhile`, and starts the controllers again with empty memory. */
  restart(meanwhile?: () => Promise<void>): Promise<void>
  /** Waits until the object is as wanted; undefined stands for one that does not exist. */
  until<T extends KubeObject>(
    where: { api: ClusterClient; resource: TypedResource<T>; key: ObjectKey },
    isWanted: (object: T | undefined) => boolean,
  ): Promise<T | undefined>
}

export interface FleetSceneOptions {
  /**
   * The rules by which the hub's controllers act for the writers of a namespace. Default: nothing outside of
   * it.
   */
  readonly rules?: TenantRules
  /** The rules by which its admission judges their writes. Default: the same. */
  readonly admits?: TenantRules
}

/** Starts a scene that ends with the signal; disposal removes everything. */
export async function startFleetScene(
  clusters: readonly string[],
  signal: AbortSignal,
  { rules = {}, admits = rules }: FleetSceneOptions = {},
): Promise<FleetScene> {
  await using stack = new AsyncDisposableStack()
  const kinds = await builtinKinds()
  const server = stack.use(
    await startTestApiServer({
      kinds: [...kinds, clusterKind(kinds), ...(await karmadaKinds(kinds, { rules: admits }))],
      namespaces: [
        'default',
        'shop',
        'bank',
        'karmada-cluster',
        ...clusters.map(executionNamespace),
      ],
    }),
  )
  const hub = createCluster(server.transport, deps)
  const edges = new Map<string, ClusterClient>()
  const stop = linkedSignal(signal)
  const agents: ((scope: AbortSignal) => Promise<void>)[] = []
  for (const name of clusters) {
    const edge = stack.use(await startTestApiServer({ namespaces: ['default'] }))
    const local = createCluster(edge.transport, deps)
    edges.set(name, local)
    await register(hub, { name, local }, signal)
    agents.push((scope) => runWorks({ clusterName: name }, { ...deps, hub, local }, scope))
  }
  const running = runAll(stop.signal, agents)
  stack.defer(async () => {
    stop.abort(new Error('the test is over'))
    await running
  })
  let controllers = startHub(hub, rules, signal)
  stack.defer(() => controllers.stop())
  const owned = stack.move()
  return {
    hub,
    edge(name) {
      const found = edges.get(name)
      if (found) return found
      throw new RangeError(`Cannot find cluster "${name}": the scene has none of this name`)
    },
    async restart(meanwhile = async () => {}) {
      await controllers.stop()
      await meanwhile()
      controllers = startHub(hub, rules, signal)
    },
    until: ({ api, ...where }, isWanted) => untilObject(api, where, isWanted, signal),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

function startHub(
  hub: ClusterClient,
  rules: TenantRules,
  signal: AbortSignal,
): { stop(): Promise<void> } {
  const stopped = linkedSignal(signal)
  const running = runHub(hub, rules, stopped.signal)
  return {
    async stop() {
      stopped.abort(new Error('the hub stops'))
      await running
    },
  }
}

async function runHub(hub: ClusterClient, rules: TenantRules, signal: AbortSignal): Promise<void> {
  const informers = createInformerSet(hub, deps)
  const events = createEventSink(hub, deps)
  const others = [clusterController, ...createFleetScheduler(), ...createFleetFailover()]
  const fleet = lateControllers({
    name: 'propagation',
    triggers: propagationTriggers,
    load: (given, scope) => propagationControllers({ rules, others }, given, scope),
  })
  await runAll(signal, [
    (scope) => informers.run(scope),
    (scope) => events.run(scope),
    (scope) => fleet.run({ ...deps, cluster: hub, informers, events }, scope),
  ])
}

/** Registers the cluster as its agent would. */
async function register(
  hub: ClusterClient,
  { name, local }: { name: string; local: ClusterClient },
  signal: AbortSignal,
): Promise<void> {
  const clusters = hub.resource(clusterResource)
  await clusters.create(
    {
      apiVersion: 'cluster.karmada.io/v1alpha1',
      kind: 'Cluster',
      metadata: { name, labels: { site: name } },
      spec: { syncMode: 'Pull', id: name },
    },
    signal,
  )
  const condition = {
    type: 'Ready',
    status: 'True',
    reason: 'ClusterReady',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }
  const apiEnablements = apiEnablementsOf(await local.discover(signal))
  const resourceSummary = { allocatable: { pods: '100', cpu: '100', memory: '100Gi' } }
  const patch = { status: { conditions: [condition], apiEnablements, resourceSummary } }
  await clusters.patchStatus({ name, type: 'merge', patch }, signal)
}

/** Returns `default/web`, with one container. */
export function deployment(spec: Record<string, unknown> = {}): AnyObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'shop', name: 'web', labels: { app: 'web' } },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'web', image: 'registry.example.com/web:1' }] },
      },
      ...spec,
    },
  }
}
