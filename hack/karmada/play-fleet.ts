import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger, systemClock, systemRandom } from '@skerry/base'
import {
  createCluster,
  createHttpsTransport,
  loadKubeconfig,
  resources,
  type Cluster as Api,
} from '@skerry/client'
import { clusterResource } from '@skerry/karmada'
import { startTestApiServer } from '@skerry/testing'
import { writeAdminKubeconfig } from '../../cmd/admin-kubeconfig.ts'
import { startTestHub } from '../../cmd/test-fleet.ts'
import { buildUpstream } from '../upstream/build-upstream.ts'
import { buildKarmada, karmadaPrograms } from '../upstream/karmada-build.ts'
import { startKarmada } from '../upstream/karmada-run.ts'
import {
  startKarmadaAgent,
  startOurAgent,
  storySite,
  type ControlPlane,
  type StartAgent,
} from './fleet-agents.ts'
import { differences, takePicture, type FleetPicture } from './fleet-picture.ts'
import { fleetStory, storyNamespace, storySites, type FleetWorld } from './fleet-story.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'story' }
const storyMs = 900_000
const pollMs = 500
/** A picture that has not changed for this long is what the step has led to. */
const stillMs = 4_000
/** Ours has this long to look like it. */
const equalMs = 20_000

/** Plays one story against Karmada with our agents, against our hub with ours, and with Karmada's: all look alike. */
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
  const agents = { ours: startOurAgent, "Karmada's": startKarmadaAgent }
  let count = 0
  for (const [agent, startAgent] of Object.entries(agents)) {
    await withHub(startAgent, signal, async (world) => {
      for (const [at, { title, act }] of fleetStory.entries()) {
        await act(world, signal)
        const found = (await untilAlike(world, pictures[at] ?? {}, signal)).filter(isNews)
        const told = found.length === 0 ? '' : `: ${found.length} differences`
        console.log(`hub, agents ${agent}: ${title}${told}`)
        for (const line of found) console.log(`  ${line}`)
        count += found.length
      }
    })
  }
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
  const { kubeconfigPath } = stack.use(
    await startKarmada({
      upstreamBin: await buildUpstream([...upstream]),
      bin: await buildKarmada(karmadaPrograms.filter((each) => each !== 'karmada-search')),
      directory,
      bindAddress: '127.0.0.1',
      withSearch: false,
    }),
  )
  const { transport } = await loadKubeconfig(kubeconfigPath, {}, { ...deps, environment: {} })
  const hub = createCluster(stack.use(createHttpsTransport(transport)), deps)
  await playWithSites({ hub, kubeconfigPath, directory }, startOurAgent, signal, play)
}

async function withHub(startAgent: StartAgent, signal: AbortSignal, play: Play): Promise<void> {
  await using fleet = await startTestHub()
  const { admin: hub, directory, url } = fleet
  const kubeconfigPath = join(directory, 'story.kubeconfig')
  const file = { path: kubeconfigPath, name: 'hub', server: url }
  await writeAdminKubeconfig(fleet.hub.plane.pki, file)
  await playWithSites({ hub, kubeconfigPath, directory }, startAgent, signal, play)
}

/** Two sites with their agents; the story begins when the control plane knows both. */
async function playWithSites(
  plane: ControlPlane,
  startAgent: StartAgent,
  signal: AbortSignal,
  play: Play,
): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const { hub } = plane
  const sites: Record<string, Api> = {}
  for (const name of storySites) {
    const site = storySite(name, stack.use(await startTestApiServer()))
    sites[name] = site.local
    stack.use(await startAgent(site, plane, signal))
  }
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
