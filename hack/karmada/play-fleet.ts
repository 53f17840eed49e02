import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { linkedSignal, runAll, silentLogger, systemClock, systemRandom } from '@skerry/base'
import {
  createCluster,
  createHttpsTransport,
  loadKubeconfig,
  resources,
  type Cluster as Api,
} from '@skerry/client'
import { EdgeObserver, clusterResource, runClusterReporter, runWorks } from '@skerry/karmada'
import { startTestApiServer } from '@skerry/testing'
import { startTestHub } from '../../cmd/test-fleet.ts'
import { buildUpstream } from '../upstream/build-upstream.ts'
import { buildKarmada, karmadaPrograms } from '../upstream/karmada-build.ts'
import { startKarmada } from '../upstream/karmada-run.ts'
import { differences, takePicture, type FleetPicture } from './fleet-picture.ts'
import { fleetStory, storyNamespace, storySites, type FleetWorld } from './fleet-story.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'story' }
const storyMs = 900_000
const pollMs = 500
/** A picture that has not changed for this long is what the step has led to. */
const stillMs = 4_000
/** Ours has this long to look like it. */
const equalMs = 20_000

/** Plays one story against Karmada and against our hub, with our agents; both are to look alike. */
export async function playFleet(): Promise<void> {
  const signal = AbortSignal.timeout(storyMs)
  const pictures: FleetPicture[] = []
  await withKarmada(signal, async (world) => {
    for (const { title, act } of fleetStory) {
      await act(world, signal)
      pictures.push(await stillPicture(world, signal))
      console.log(`Karmada: ${title}`)
    }
  })
  let count = 0
  await withHub(signal, async (world) => {
    for (const [at, { title, act }] of fleetStory.entries()) {
      await act(world, signal)
      const found = (await untilAlike(world, pictures[at] ?? {}, signal)).filter(isNews)
      console.log(`hub: ${title}${found.length === 0 ? '' : `: ${found.length} differences`}`)
      for (const line of found) console.log(`  ${line}`)
      count += found.length
    }
  })
  if (count > 0) throw new Error(`The hub differs from Karmada in ${count} places`)
}

async function stillPicture(world: FleetWorld, signal: AbortSignal): Promise<FleetPicture> {
  let last = await takePicture(world, signal)
  let sinceMs = performance.now()
  while (performance.now() - sinceMs < stillMs) {
    await systemClock.sleep(pollMs, signal)
    const next = await takePicture(world, signal)
    if (differences(last, next).length === 0) continue
    last = next
    sinceMs = performance.now()
  }
  return last
}

async function untilAlike(
  world: FleetWorld,
  expected: FleetPicture,
  signal: AbortSignal,
): Promise<string[]> {
  const endMs = performance.now() + equalMs
  for (;;) {
    const found = differences(expected, await takePicture(world, signal))
    if (!found.some(isNews) || performance.now() > endMs) return found
    await systemClock.sleep(pollMs, signal)
  }
}

/** Karmada leaves the annotation of an override on a Work when there is none any more. */
function isNews(line: string): boolean {
  return !/annotations\.policy\.karmada\.io\/applied-overrides: .* found undefined$/.test(line)
}

type Play = (world: FleetWorld) => Promise<void>

async function withKarmada(signal: AbortSignal, play: Play): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'skerry-fleet-'))
  stack.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))
  const upstream = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'] as const
  const karmada = stack.use(
    await startKarmada({
      upstreamBin: await buildUpstream([...upstream]),
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
  const hub = createCluster(stack.use(createHttpsTransport(transport)), deps)
  await playWithSites(hub, signal, play)
}

async function withHub(signal: AbortSignal, play: Play): Promise<void> {
  await using fleet = await startTestHub()
  await playWithSites(fleet.admin, signal, play)
}

/** Two sites with our agents; the story begins when the control plane knows both. */
async function playWithSites(hub: Api, signal: AbortSignal, play: Play): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const stop = linkedSignal(signal)
  const sites: Record<string, Api> = {}
  const tasks: ((scope: AbortSignal) => Promise<void>)[] = []
  for (const name of storySites) {
    const server = stack.use(await startTestApiServer())
    const local = createCluster(server.transport, deps)
    const observer = new EdgeObserver({ ...deps, local })
    sites[name] = local
    tasks.push(
      (scope) => observer.run(scope),
      (scope) => runClusterReporter({ name }, { ...deps, hub, observer }, scope),
      (scope) => runWorks({ clusterName: name }, { ...deps, hub, local }, scope),
    )
  }
  const running = runAll(stop.signal, tasks)
  stack.defer(async () => {
    stop.abort(new Error('the story is over'))
    await running
  })
  await untilReady(hub, signal)
  const metadata = { name: storyNamespace }
  await hub
    .resource(resources.namespaces)
    .create({ apiVersion: 'v1', kind: 'Namespace', metadata }, signal)
  await play({ hub, sites })
}

async function untilReady(hub: Api, signal: AbortSignal): Promise<void> {
  for (;;) {
    const { items } = await hub.resource(clusterResource).list({}, signal)
    const ready = items.filter(({ status }) =>
      status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True'),
    )
    if (ready.length === storySites.length) return
    await systemClock.sleep(pollMs, signal)
  }
}
