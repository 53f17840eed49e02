import { linkedSignal, silentLogger, systemClock, systemRandom } from '@skerry/base'
import type { AnyObject, KubeObject, Node } from '@skerry/api'
import {
  anyObjects,
  createCluster,
  createEventSink,
  resources,
  type ClusterClient,
  type ResourceRef,
  type TypedResource,
} from '@skerry/client'
import { createInformerSet } from '@skerry/controller-runtime'
import { startTestApiServer, untilSeen } from '@skerry/testing'
import { runEdgeApps } from '../run-edge-apps.ts'
import { runServiceTraffic } from '../traffic/service-traffic-controller.ts'

export interface EdgeWorld extends AsyncDisposable {
  readonly cluster: ClusterClient
  readonly signal: AbortSignal
  create(resource: ResourceRef, object: object): Promise<AnyObject>
  patch(
    resource: ResourceRef,
    key: { name: string; namespace?: string },
    patch: object,
  ): Promise<void>
  node(name: string, labels: Record<string, string>, isReady?: boolean): Promise<void>
  /** Resolves with the result of `see` once there is one. */
  eventually<T extends KubeObject, Found>(
    resource: TypedResource<T>,
    see: (objects: readonly T[]) => Found | undefined,
  ): Promise<Found>
}

/**
 * Runs the kinds of these systems on an API server in this process, and keeps traffic near as in a cluster with the service
 * proxies of others.
 */
export async function startEdgeWorld(systems: readonly string[]): Promise<EdgeWorld> {
  await using stack = new AsyncDisposableStack()
  const api = stack.use(await startTestApiServer())
  const deps = { clock: systemClock, random: systemRandom, log: silentLogger }
  const cluster = createCluster(api.transport, { ...deps, userAgent: 'skerry-test' })
  const informers = createInformerSet(cluster, deps)
  const events = createEventSink(cluster, deps)
  const scope = stack.use(linkedSignal(new AbortController().signal))
  const { signal } = scope
  const running = [
    informers.run(signal),
    events.run(signal),
    runEdgeApps(systems, { ...deps, cluster, informers, events }, signal),
    runServiceTraffic({ ...deps, cluster, informers, events }, signal),
  ].map((each) => each.catch((error: unknown) => failUnlessEnded(error, signal)))
  stack.defer(async () => {
    scope.abort(new Error('Test ended'))
    await Promise.all(running)
  })
  const owned = stack.move()
  const client = (resource: ResourceRef) => cluster.resource(anyObjects(resource))
  const world: EdgeWorld = {
    cluster,
    signal,
    // The test writes whole objects; the server checks them.
    create: (resource, object) => client(resource).create(object as AnyObject, signal),
    patch: async (resource, key, patch) => {
      await client(resource).patch({ ...key, type: 'merge', patch }, signal)
    },
    node: async (name, labels, isReady = true) => {
      const nodes = cluster.resource(resources.nodes)
      await nodes.create(nodeOf(name, labels), signal)
      const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }]
      await nodes.patchStatus({ name, type: 'merge', patch: { status: { conditions } } }, signal)
    },
    eventually: async (resource, see) => {
      const informer = informers.informer(resource)
      await informer.whenSynced(signal)
      return untilSeen(informer, see)
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
  return world
}

function failUnlessEnded(error: unknown, signal: AbortSignal): void {
  if (!signal.aborted) throw error
}

function nodeOf(name: string, labels: Record<string, string>): Node {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } }
}
