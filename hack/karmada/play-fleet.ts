import { join } from 'node:path'
import { systemClock } from '@skerry/base'
import { resources, type Cluster as Api } from '@skerry/client'
import { clusterResource } from '@skerry/karmada'
import { startTestApiServer } from '@skerry/testing'
import { writeAdminKubeconfig } from '../../cmd/admin-kubeconfig.ts'
import { startTestHub } from '../../cmd/test-fleet.ts'
import { stillPicture, untilAlike } from './compare-pictures.ts'
import {
  startKarmadaAgent,
  startOurAgent,
  storySite,
  type ControlPlane,
  type StartAgent,
} from './fleet-agents.ts'
import { takePicture, type FleetPicture } from './fleet-picture.ts'
import { fleetStory, storyNamespace, storySites, type FleetWorld } from './fleet-story.ts'
import { startStoryKarmada } from './story-karmada.ts'

const storyMs = 900_000
const pollMs = 500

/** Plays one story against Karmada with our agents, against our hub with ours, and with Karmada's: all look alike. */
export async function playFleet(): Promise<void> {
  const signal = AbortSignal.timeout(storyMs)
  const pictures: FleetPicture[] = []
  await withKarmada(signal, async (world) => {
    for (const { title, act } of fleetStory) {
      await act(world, signal)
      pictures.push(await stillPicture((scope) => takePicture(world, scope), signal))
      console.log(`Karmada: ${title}`)
    }
  })
  const agents = { ours: startOurAgent, "Karmada's": startKarmadaAgent }
  let count = 0
  for (const [agent, startAgent] of Object.entries(agents)) {
    await withHub(startAgent, signal, async (world) => {
      for (const [at, { title, act }] of fleetStory.entries()) {
        await act(world, signal)
        const look = (scope: AbortSignal) => takePicture(world, scope)
        const found = await untilAlike(look, pictures[at] ?? {}, signal)
        const told = found.length === 0 ? '' : `: ${found.length} differences`
        console.log(`hub, agents ${agent}: ${title}${told}`)
        for (const line of found) console.log(`  ${line}`)
        count += found.length
      }
    })
  }
  if (count > 0) throw new Error(`The hub differs from Karmada in ${count} places`)
}

type Play = (world: FleetWorld) => Promise<void>

async function withKarmada(signal: AbortSignal, play: Play): Promise<void> {
  await using karmada = await startStoryKarmada()
  await playWithSites(karmada, startOurAgent, signal, play)
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
