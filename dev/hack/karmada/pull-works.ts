import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isJsonObject, type AnyObject } from '@skerry/api'
import { linkedSignal, runAll, silentLogger, systemClock, systemRandom } from '@skerry/base'
import {
  anyObjects,
  createCluster,
  createHttpsTransport,
  loadKubeconfig,
  resources,
  type ClusterClient,
  type ObjectKey,
  type TypedResource,
} from '@skerry/client'
import { EdgeObserver, runClusterReporter, runWorks } from '@skerry/cluster-agent'
import { workNameOf, workResource } from '@skerry/karmada-kinds'
import { startTestApiServer } from '@skerry/testing'
import { buildUpstream } from '../upstream/build-upstream.ts'
import { buildKarmada, karmadaPrograms } from '../upstream/karmada-build.ts'
import { startKarmada } from '../upstream/karmada-run.ts'
import { untilFound } from './until-found.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'story' }
const name = 'shop-7'
const web = { namespace: 'default', name: 'web' }
const storyMs = 240_000

const policies: TypedResource<AnyObject> = {
  group: 'policy.karmada.io',
  version: 'v1alpha1',
  resource: 'propagationpolicies',
  isNamespaced: true,
}
const bindings: TypedResource<AnyObject> = {
  group: 'work.karmada.io',
  version: 'v1alpha2',
  resource: 'resourcebindings',
  isNamespaced: true,
}

const customizations: TypedResource<AnyObject> = {
  group: 'config.karmada.io',
  version: 'v1alpha1',
  resource: 'resourceinterpretercustomizations',
  isNamespaced: false,
}

/** Plays Karmada's scheduling and division; our agent pulls its Works for a site of ours, and reports. */
export async function playPullWorks(): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'skerry-pull-works-'))
  stack.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))
  const signal = AbortSignal.timeout(storyMs)
  const karmada = stack.use(
    await startKarmada({
      upstreamBin: await buildUpstream([
        'etcd',
        'kube-apiserver',
        'kube-controller-manager',
        'kubectl',
      ]),
      bin: await buildKarmada(karmadaPrograms.filter((each) => each !== 'karmada-search')),
      directory,
      bindAddress: '127.0.0.1',
      withSearch: false,
    }),
  )
  const { transport } = await loadKubeconfig(
    karmada.kubeconfigPath,
    {},
    { ...deps, environment: {} },
  )
  const hub = createCluster(stack.use(createHttpsTransport(transport, deps)), deps)
  const site = stack.use(await startTestApiServer())
  const local = createCluster(site.transport, deps)
  const observer = new EdgeObserver({ ...deps, local })
  const stop = linkedSignal(signal)
  const running = runAll(stop.signal, [
    (scope) => observer.run(scope),
    (scope) => runClusterReporter({ name }, { ...deps, hub, observer }, scope),
    (scope) => runWorks({ clusterName: name }, { ...deps, hub, local }, scope),
  ])
  stack.defer(async () => {
    stop.abort(new Error('the story is over'))
    await running
  })
  await play(hub, local, signal)
}

async function play(hub: ClusterClient, local: ClusterClient, signal: AbortSignal): Promise<void> {
  const say = (text: string): void => console.log(`ok: ${text}`)
  await hub.resource(policies).create(policy, signal)
  const deployments = local.resource(resources.deployments)
  await hub.resource(anyObjects(resources.deployments)).create(deployment, signal)
  const made = await untilFound(
    () => deployments.get(web, signal),
    () => true,
    signal,
  )
  say(`the site has the Deployment with ${made.spec?.replicas} replicas`)
  const namespace = `karmada-es-${name}`
  const key = { namespace, name: workNameOf({ kind: 'Deployment', ...web }) }
  const counts = { replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 }
  const status = { ...counts, observedGeneration: 1 }
  await deployments.patchStatus({ ...web, type: 'merge', patch: { status } }, signal)
  const work = await untilFound(
    () => hub.resource(workResource).get(key, signal),
    ({ status: told }) => told?.manifestStatuses?.[0]?.health === 'Healthy',
    signal,
  )
  say(`its Work ${key.name}: ${JSON.stringify(work.status)}`)
  const told = await untilFound(
    () => hub.resource(resources.deployments).get(web, signal),
    (object) => object.status?.availableReplicas === 2,
    signal,
  )
  assert.equal(told.status?.observedGeneration, told.metadata.generation)
  say(`Karmada's Deployment: ${JSON.stringify(told.status)}`)
  const binding = await untilFound(
    () => hub.resource(bindings).get({ ...web, name: 'web-deployment' }, signal),
    ({ status: state }) => JSON.stringify(state).includes('"health":"Healthy"'),
    signal,
  )
  assert.ok(isJsonObject(binding['status']))
  say(`its binding: ${JSON.stringify(binding['status']['aggregatedStatus'])}`)
  await deployments.patch({ ...web, type: 'merge', patch: { spec: { replicas: 5 } } }, signal)
  await untilFound(
    () => deployments.get(web, signal),
    ({ spec }) => spec?.replicas === 2,
    signal,
  )
  say('a change at the site is reverted')
  await hub.resource(customizations).create(tuned, signal)
  for (const [answer, health] of [
    ['no', 'Unhealthy'],
    ['yes', 'Healthy'],
  ] as const) {
    const patch = { metadata: { labels: { tuned: answer } } }
    await deployments.patch({ ...web, type: 'merge', patch }, signal)
    await untilFound(
      () => hub.resource(workResource).get(key, signal),
      ({ status: state }) => state?.manifestStatuses?.[0]?.health === health,
      signal,
    )
  }
  say('a script that Karmada has says whether it is healthy')
  await hub.resource(resources.deployments).delete(web, signal)
  await untilGone(local, web, signal)
  await untilNoWork(hub, key, signal)
  say('deleted in Karmada, gone at the site, and so is the Work')
}

const tuned: AnyObject = {
  apiVersion: 'config.karmada.io/v1alpha1',
  kind: 'ResourceInterpreterCustomization',
  metadata: { name: 'tuned' },
  spec: {
    target: { apiVersion: 'apps/v1', kind: 'Deployment' },
    customizations: {
      healthInterpretation: {
        luaScript: 'function InterpretHealth(o) return o.metadata.labels.tuned == "yes" end',
      },
    },
  },
}

const policy: AnyObject = {
  apiVersion: 'policy.karmada.io/v1alpha1',
  kind: 'PropagationPolicy',
  metadata: web,
  spec: {
    resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }],
    placement: { clusterAffinity: { clusterNames: [name] } },
  },
}

const deployment: AnyObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: web,
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'web' }] },
    },
  },
}

async function untilGone(local: ClusterClient, key: ObjectKey, signal: AbortSignal): Promise<void> {
  const list = () => local.resource(resources.deployments).list({}, signal)
  await untilFound(
    list,
    ({ items }) => !items.some((each) => each.metadata.name === key.name),
    signal,
  )
}

async function untilNoWork(hub: ClusterClient, key: ObjectKey, signal: AbortSignal): Promise<void> {
  const { namespace = '' } = key
  const list = () => hub.resource(workResource).list({ namespace }, signal)
  await untilFound(
    list,
    ({ items }) => !items.some((each) => each.metadata.name === key.name),
    signal,
  )
}
