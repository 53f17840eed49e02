import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { isStatusError, type AnyObject } from '@skerry/api'
import { silentLogger, systemClock, systemRandom } from '@skerry/base'
import {
  createCluster,
  createHttpsTransport,
  loadKubeconfig,
  resources,
  type ClusterClient,
  type TypedResource,
} from '@skerry/client'
import { clusterResource, type Cluster } from '@skerry/fleet-kinds'
import { resourceBindingResource, type ResourceBinding } from '@skerry/karmada-kinds'
import type { Outcome, Outcomes } from '../../differential/placement/corpus.ts'
import { named, targetsText } from '../../differential/placement/play-ours.ts'
import { lookoutKind, type World } from '../../differential/placement/world.ts'
import { buildUpstream } from '../upstream/build-upstream.ts'
import { buildKarmada, karmadaSource } from '../upstream/karmada-build.ts'
import { argumentsOf, programIn, runProgram } from '../upstream/run-program.ts'
import { startUpstream } from '../upstream/run-upstream.ts'
import { untilFound } from './until-found.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'worlds' }
const worldMs = 60_000
/** The time without a write after which the scheduler is idle. */
const quietMs = 1_000

export interface PlacementUpstream extends AsyncDisposable {
  /** Plays one world at a time. */
  play(world: World): Promise<Outcomes>
}

/**
 * Starts Karmada's scheduler against a kube-apiserver with clusters and bindings, and without the rest of
 * Karmada.
 */
export async function startPlacementUpstream(directory: string): Promise<PlacementUpstream> {
  await using stack = new AsyncDisposableStack()
  const upstreamBin = await buildUpstream(['etcd', 'kube-apiserver'])
  const bin = await buildKarmada(['karmada-scheduler'])
  const upstream = stack.use(await startUpstream({ bin: upstreamBin, directory }))
  const kubeconfig = await loadKubeconfig(upstream.kubeconfigPath, {}, { ...deps, environment: {} })
  const api = createCluster(stack.use(createHttpsTransport(kubeconfig.transport, deps)), deps)
  await serveKinds(api, AbortSignal.timeout(worldMs))
  const flags = {
    kubeconfig: upstream.kubeconfigPath,
    'leader-elect': 'false',
    'metrics-bind-address': '0',
    'health-probe-bind-address': '0',
    'kube-api-qps': '400',
    'kube-api-burst': '800',
    'feature-gates': 'WorkloadAffinity=true,MultiplePodTemplatesScheduling=true',
  }
  const program = programIn(bin, directory, 'karmada-scheduler')
  stack.use(await runProgram({ ...program, args: argumentsOf(flags) }))
  const owned = stack.move()
  return {
    play: (world) => playWorld(api, world, AbortSignal.timeout(worldMs)),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

const definitions: TypedResource<AnyObject> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
  isNamespaced: false,
}

/**
 * Creates the definitions: Karmada's own of bindings, and one without validation of clusters, which Karmada
 * serves from another API server.
 */
async function serveKinds(api: ClusterClient, signal: AbortSignal): Promise<void> {
  const bases = join(karmadaSource(), 'charts/karmada/_crds/bases/work')
  for (const kind of ['resourcebindings', 'clusterresourcebindings']) {
    const text = await readFile(join(bases, `work.karmada.io_${kind}.yaml`), 'utf8')
    // Karmada's file holds one definition.
    await api.resource(definitions).create(parse(text) as AnyObject, signal)
  }
  await api.resource(definitions).create(clusterDefinition, signal)
  await untilFound(() => api.resource(clusterResource).list({}, signal), Boolean, signal)
  await untilFound(() => api.resource(resourceBindingResource).list({}, signal), Boolean, signal)
}

const clusterDefinition: AnyObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: 'clusters.cluster.karmada.io',
    annotations: { 'api-approved.kubernetes.io': 'unapproved' },
  },
  spec: {
    group: 'cluster.karmada.io',
    names: { kind: 'Cluster', listKind: 'ClusterList', plural: 'clusters', singular: 'cluster' },
    scope: 'Cluster',
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    ],
  },
}

async function playWorld(api: ClusterClient, world: World, signal: AbortSignal): Promise<Outcomes> {
  await ensureNamespaces(api, world, signal)
  for (const cluster of world.clusters) await addCluster(api, cluster, world.name, signal)
  await untilSeen(api, world, signal)
  try {
    for (const binding of world.bindings) await holdBinding(api, binding, signal)
    for (const binding of world.bindings) await releaseBinding(api, binding, signal)
    const placed = await untilAtRest(api, world, signal)
    return Object.fromEntries(placed.map((each) => [each.metadata.name ?? '', outcomeOf(each)]))
  } finally {
    await clear(api, world, signal)
  }
}

async function ensureNamespaces(
  api: ClusterClient,
  { bindings }: World,
  signal: AbortSignal,
): Promise<void> {
  for (const name of new Set(bindings.map(({ metadata }) => metadata.namespace ?? ''))) {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
    await api
      .resource(resources.namespaces)
      .create(namespace, signal)
      .catch((error: unknown) => {
        if (!isStatusError(error, 'AlreadyExists')) throw error
      })
  }
}

/** Adds the cluster, with its label last: a scheduler that knows the label knows the final cluster. */
async function addCluster(
  api: ClusterClient,
  { status, ...cluster }: Cluster,
  world: string,
  signal: AbortSignal,
): Promise<void> {
  const clusters = api.resource(clusterResource)
  const { deletionTimestamp, ...metadata } = cluster.metadata
  const finalizers = ['worlds.skerry.io/held']
  const made = { ...cluster, metadata: { ...metadata, finalizers } }
  await clusters.create(made, signal)
  const name = metadata.name ?? ''
  await clusters.patchStatus({ name, type: 'merge', patch: { status } }, signal)
  if (deletionTimestamp !== undefined) await clusters.delete({ name }, signal)
  const patch = { metadata: { labels: { world } } }
  await clusters.patch({ name, type: 'merge', patch }, signal)
}

const lookout = { namespace: 'default', name: 'world-lookout' }
const byPolicy = 'propagationpolicy.karmada.io/permanent-id'

async function untilSeen(
  api: ClusterClient,
  { name, clusters }: World,
  signal: AbortSignal,
): Promise<void> {
  const bindings = api.resource(resourceBindingResource)
  const wanted = clusters.filter(({ metadata }) => metadata.deletionTimestamp === undefined).length
  const tolerations = [{ operator: 'Exists' }]
  const clusterAffinity = { labelSelector: { matchLabels: { world: name } } }
  await bindings.create(
    {
      apiVersion: 'work.karmada.io/v1alpha2',
      kind: 'ResourceBinding',
      metadata: { ...lookout, labels: { [byPolicy]: 'lookout' } },
      spec: {
        resource: { ...lookoutKind, ...lookout, name: 'world' },
        placement: { clusterAffinity, clusterTolerations: tolerations },
      },
    },
    signal,
  )
  const isScheduled = ({ spec }: ResourceBinding): boolean =>
    (spec.clusters ?? []).length === wanted
  await untilFound(() => bindings.get(lookout, signal), isScheduled, signal)
  await bindings.delete(lookout, signal)
}

async function holdBinding(
  api: ClusterClient,
  { status, ...binding }: ResourceBinding,
  signal: AbortSignal,
): Promise<void> {
  const bindings = api.resource(resourceBindingResource)
  const labels = { [byPolicy]: 'world' }
  const { metadata, spec } = binding
  const suspension = { ...spec.suspension, scheduling: true }
  await bindings.create(
    { ...binding, metadata: { ...metadata, labels }, spec: { ...spec, suspension } },
    signal,
  )
  const key = keyOf(binding)
  await bindings.patchStatus({ ...key, type: 'merge', patch: { status } }, signal)
}

async function releaseBinding(
  api: ClusterClient,
  binding: ResourceBinding,
  signal: AbortSignal,
): Promise<void> {
  if (binding.spec.suspension?.scheduling) return
  const patch = { spec: { suspension: null } }
  const bindings = api.resource(resourceBindingResource)
  await bindings.patch({ ...keyOf(binding), type: 'merge', patch }, signal)
}

async function untilAtRest(
  api: ClusterClient,
  { bindings }: World,
  signal: AbortSignal,
): Promise<readonly ResourceBinding[]> {
  let last = ''
  let sinceMs = performance.now()
  const readAtRest = async (): Promise<readonly ResourceBinding[] | undefined> => {
    const { items } = await api.resource(resourceBindingResource).list({}, signal)
    const versions = items.map(({ metadata }) => metadata.resourceVersion).join(' ')
    if (versions !== last) [last, sinceMs] = [versions, performance.now()]
    const isQuiet = performance.now() - sinceMs > quietMs
    const isDone = items.length === bindings.length && items.every(isSettled)
    return isDone && isQuiet ? items : undefined
  }
  return untilFound(readAtRest, Boolean, signal)
}

function isSettled({ metadata, spec, status }: ResourceBinding): boolean {
  if (spec.suspension?.scheduling) return true
  const condition = scheduledOf(status)
  if (condition === undefined) return false
  const isSeen = status?.schedulerObservedGeneration === metadata.generation
  return condition.status === 'False' || isSeen
}

function scheduledOf(status: ResourceBinding['status']) {
  return status?.conditions?.find(({ type }) => type === 'Scheduled')
}

function outcomeOf(binding: ResourceBinding): Outcome {
  const { reason = '', message = '' } = scheduledOf(binding.status) ?? {}
  return { clusters: targetsText(binding), reason, message, ...named(binding) }
}

async function clear(api: ClusterClient, world: World, signal: AbortSignal): Promise<void> {
  const bindings = api.resource(resourceBindingResource)
  const { items } = await bindings.list({}, signal)
  for (const each of items) await bindings.delete(keyOf(each), signal)
  const clusters = api.resource(clusterResource)
  for (const { metadata } of world.clusters) {
    const name = metadata.name ?? ''
    if (metadata.deletionTimestamp === undefined) await clusters.delete({ name }, signal)
    const patch = { metadata: { finalizers: null } }
    await clusters.patch({ name, type: 'merge', patch }, signal)
  }
}

function keyOf({ metadata }: ResourceBinding): { namespace: string; name: string } {
  return { namespace: metadata.namespace ?? '', name: metadata.name ?? '' }
}
