/** A hub and an edge cluster whose nodes are in groups, with the agent between them, for tests. */
import type { AnyObject, CustomResourceDefinition } from '@skerry/api'
import type { Objects } from '@skerry/apiserver'
import { linkedSignal } from '@skerry/base'
import {
  createCluster,
  resources,
  type ClusterClient,
  type HttpsTransportConfig,
} from '@skerry/client'
import { namedControllers, runControllers } from '@skerry/controllers'
import { executionNamespace, type VirtualCluster } from '@skerry/fleet-kinds'
import { allowVirtualClusters } from '@skerry/membership'
import {
  startTestAgent,
  startTestEdge,
  startTestHub,
  type TestAgent,
  type TestHub,
} from './test-fleet.ts'
import { untilObject } from '../until-object.ts'

export interface VirtualScene extends AsyncDisposable {
  readonly fleet: TestHub
  readonly hub: ClusterClient
  readonly edge: ClusterClient
  /** The edge's API, as its agent reaches it. */
  readonly api: HttpsTransportConfig
  /** The edge server's objects, bypassing authorization and admission. */
  readonly objects: Objects
  /** Stops the agent; resolves when nothing of it runs any more. */
  stopAgent(): Promise<void>
  startAgent(): Promise<void>
}

/** Starts a hub, and an edge whose agent may have virtual clusters. */
export async function startVirtualScene(
  { isAllowed = true }: { isAllowed?: boolean },
  signal: AbortSignal,
): Promise<VirtualScene> {
  await using stack = new AsyncDisposableStack()
  const fleet = stack.use(await startTestHub())
  const server = stack.use(await startTestEdge({ hasVirtualClusters: true }))
  const edge = createCluster(server.transport, { ...fleet.context, userAgent: 'test' })
  stack.use(runNamespaces(edge, fleet, signal))
  await allowVirtualClusters(fleet.admin, { cluster: 'bank', isAllowed }, signal)
  const asked = { name: 'bank', api: server.api, hasVirtualClusters: true }
  let agent: TestAgent | undefined
  const stopAgent = async (): Promise<void> => {
    await agent?.[Symbol.asyncDispose]()
    agent = undefined
  }
  const startAgent = async (): Promise<void> => {
    agent = await startTestAgent(fleet, asked)
  }
  stack.defer(stopAgent)
  await startAgent()
  const isEstablished = (found: CustomResourceDefinition | undefined): boolean =>
    (found?.status?.conditions ?? []).some(
      ({ type, status }) => type === 'Established' && status === 'True',
    )
  const definition = { resource: resources.customResourceDefinitions, key: crdKey }
  await untilObject(edge, definition, isEstablished, signal)
  const owned = stack.move()
  return {
    fleet,
    hub: fleet.admin,
    edge,
    api: server.api,
    objects: server.objects,
    stopAgent,
    startAgent,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** The controllers of the edge that fill and empty namespaces. */
const edgeControllers = ['namespace-controller', 'serviceaccount-controller']

function runNamespaces(
  cluster: ClusterClient,
  { context }: TestHub,
  signal: AbortSignal,
): AsyncDisposable {
  const { clock, random, log } = context
  const deps = { cluster, clock, random, log }
  const stop = linkedSignal(signal)
  const running = runControllers(namedControllers(edgeControllers), deps, stop.signal)
  const ended = running.catch((error: unknown) => {
    if (!stop.signal.aborted) throw error
  })
  return {
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the test is over'))
      await ended
    },
  }
}

const crdKey = { name: 'virtualclustersets.edge.skerry.io' }

/** A ready node of four processors. */
export async function addNode(
  edge: ClusterClient,
  name: string,
  labels: Record<string, string>,
  signal: AbortSignal,
): Promise<void> {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } }
  await edge.resource(resources.nodes).create(node, signal)
  const status = {
    allocatable: { cpu: '4', memory: '8Gi', pods: '110' },
    conditions: [{ type: 'Ready', status: 'True' }],
  }
  await edge
    .resource(resources.nodes)
    .patchStatus({ name, type: 'merge', patch: { status } }, signal)
}

export function virtualCluster(name: string, spec: VirtualCluster['spec']): VirtualCluster {
  return {
    apiVersion: 'edge.skerry.io/v1alpha1',
    kind: 'VirtualCluster',
    metadata: { name },
    spec,
  }
}

/** A Work for a cluster, called `till`. */
export function workFor(name: string, ...manifests: AnyObject[]) {
  return {
    apiVersion: 'work.karmada.io/v1alpha1',
    kind: 'Work',
    metadata: { name: 'till', namespace: executionNamespace(name) },
    spec: { workload: { manifests } },
  }
}

export const till: AnyObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'till', namespace: 'shop' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'till' } },
    template: {
      metadata: { labels: { app: 'till' } },
      spec: { containers: [{ name: 'till', image: 'till' }] },
    },
  },
}
