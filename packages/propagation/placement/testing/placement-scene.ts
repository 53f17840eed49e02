import assert from 'node:assert/strict'
import { builtinKinds } from '@skerry/kinds'
import { linkedSignal, runAll, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { createCluster, createEventSink, type ClusterClient, type Transport } from '@skerry/client'
import {
  createInformerSet,
  runController,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { startTestApiServer, untilObject } from '@skerry/testing'
import { clusterKind, clusterResource, type ClusterSpec } from '@skerry/fleet-kinds'
import {
  karmadaKinds,
  resourceBindingResource,
  type BindingSpec,
  type ResourceBinding,
} from '@skerry/karmada-kinds'
import { createFleetScheduler } from '../binding-scheduler.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'test' }
export const signal = AbortSignal.timeout(60_000)
export const namespace = 'default'
export const web = { namespace, name: 'web-deployment' }
/** Goes to every cluster, and so shows which ones the scheduler has seen. */
const lookout = { namespace, name: 'lookout-deployment' }

/**
 * Starts a hub in this process with its scheduler and the given controllers. `prepare` runs before they
 * start; `through` may wrap their transport.
 */
export async function startScene(
  others: readonly ControllerDefinition[] = [],
  prepare: (scene: Scene) => Promise<void> = async () => {},
  through: (transport: Transport, scene: Scene) => Transport = (transport) => transport,
): Promise<Scene & AsyncDisposable> {
  await using stack = new AsyncDisposableStack()
  const kinds = await builtinKinds()
  const server = stack.use(
    await startTestApiServer({
      kinds: [
        ...kinds,
        clusterKind(kinds),
        ...(await karmadaKinds(kinds, { allowsNoExecute: true })),
      ],
      namespaces: [namespace],
    }),
  )
  const hub = createCluster(server.transport, deps)
  await prepare({ hub })
  const cluster = createCluster(through(server.transport, { hub }), deps)
  const informers = createInformerSet(cluster, deps)
  const events = createEventSink(hub, deps)
  const stop = linkedSignal(signal)
  const controllers = [...createFleetScheduler(), ...others]
  const running = runAll(stop.signal, [
    (scope) => events.run(scope),
    (scope) => informers.run(scope),
    ...controllers.map(
      (each) => (scope: AbortSignal) =>
        runController(each, { ...deps, cluster, informers, events }, scope),
    ),
  ])
  stack.defer(async () => {
    stop.abort(new Error('the test is over'))
    await running
  })
  const placement = { clusterTolerations: [{ operator: 'Exists' }] }
  const bindings = hub.resource(resourceBindingResource)
  const seen = {
    ...bindingOf({}),
    metadata: lookout,
    spec: { resource: deploymentOf('lookout'), placement },
  }
  await bindings.create(seen, signal)
  const owned = stack.move()
  return { hub, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

export interface Scene {
  readonly hub: ClusterClient
}

/** A cluster that serves Deployments and has room for 100 pods; the scheduler has seen it. */
export async function addCluster(
  scene: Scene,
  name: string,
  spec: Partial<ClusterSpec> = {},
): Promise<void> {
  await makeCluster(scene, name, spec)
  await untilBinding(
    scene,
    (each) => (each.spec.clusters ?? []).some((one) => one.name === name),
    lookout,
  )
}

/** The same, whether a scheduler runs or not. */
export async function makeCluster(
  { hub }: Scene,
  name: string,
  spec: Partial<ClusterSpec> = {},
): Promise<void> {
  await hub.resource(clusterResource).create(
    {
      apiVersion: 'cluster.karmada.io/v1alpha1',
      kind: 'Cluster',
      metadata: { name },
      spec: { syncMode: 'Pull', id: name, ...spec },
    },
    signal,
  )
  const apiEnablements = [{ groupVersion: 'apps/v1', resources: [deployments] }]
  const resourceSummary = { allocatable: { pods: '100' } }
  const conditions = [{ ...ready, status: 'True' }]
  const patch = { status: { apiEnablements, resourceSummary, conditions } }
  await hub.resource(clusterResource).patchStatus({ name, type: 'merge', patch }, signal)
}

const lastTransitionTime = '2026-01-01T00:00:00Z'
/** A Ready condition without its status. */
export const ready = { type: 'Ready', reason: 'Test', message: '', lastTransitionTime }
const deployments = { name: 'deployments', kind: 'Deployment' }

/** Returns a binding of a Deployment with four replicas. */
export function bindingOf(spec: Partial<BindingSpec>): ResourceBinding {
  return {
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: web,
    spec: { resource: deploymentOf('web'), replicas: 4, replicaRequirements: {}, ...spec },
  }
}

function deploymentOf(name: string) {
  return { apiVersion: 'apps/v1', kind: 'Deployment', namespace, name }
}

export async function untilBinding(
  { hub }: Scene,
  isWanted: (binding: ResourceBinding) => boolean,
  key = web,
): Promise<ResourceBinding> {
  const place = { resource: resourceBindingResource, key }
  const found = await untilObject(
    hub,
    place,
    (each) => each !== undefined && isWanted(each),
    signal,
  )
  assert.ok(found)
  return found
}

/** Formats `reef:4 shore:4`. */
export function targetsOf({ spec }: ResourceBinding): string {
  return (spec.clusters ?? []).map(({ name, replicas = 0 }) => `${name}:${replicas}`).join(' ')
}

export function isPlaced({ metadata, status }: ResourceBinding): boolean {
  return status?.schedulerObservedGeneration === metadata.generation
}
