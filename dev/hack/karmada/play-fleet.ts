import { join } from 'node:path'
import { systemClock } from '@skerry/base'
import { resources, type ClusterClient } from '@skerry/client'
import { clusterResource } from '@skerry/fleet-kinds'
import { startTestApiServer } from '@skerry/testing'
import { writeAdminKubeconfig } from '../../../roles/control-plane/admin-kubeconfig.ts'
import { startTestHub } from '../../../testing/scenes/test-fleet.ts'
import {
  startKarmadaAgent,
  startOurAgent,
  storySite,
  type ControlPlane,
  type StartAgent,
} from './fleet-agents.ts'
import { takePicture } from './fleet-picture.ts'
import { fleetStory, storyNamespace, storySites, type FleetWorld } from './fleet-story.ts'
import { playAlike, type Stage } from './play-alike.ts'
import { startStoryKarmada } from './story-karmada.ts'

const storyMs = 900_000
const pollMs = 500

/**
 * Plays one story against Karmada with our agents, and against our hub with ours and with Karmada's. Throws
 * unless all look alike.
 */
export async function playFleet(): Promise<void> {
  const hubs = {
    'hub, agents ours': stageAtHub(startOurAgent),
    "hub, agents Karmada's": stageAtHub(startKarmadaAgent),
  }
  const play = { story: fleetStory, look: takePicture, karmada: atKarmada, hubs }
  await playAlike(play, AbortSignal.timeout(storyMs))
}

type Play = (world: FleetWorld) => Promise<void>

async function atKarmada(signal: AbortSignal, play: Play): Promise<void> {
  await using karmada = await startStoryKarmada()
  await playWithSites(karmada, startOurAgent, signal, play)
}

function stageAtHub(startAgent: StartAgent): Stage<FleetWorld> {
  return async (signal, play) => {
    await using fleet = await startTestHub()
    const { admin: hub, directory, url } = fleet
    const kubeconfigPath = join(directory, 'story.kubeconfig')
    const file = { path: kubeconfigPath, name: 'hub', server: url }
    await writeAdminKubeconfig(fleet.hub.plane.pki, file)
    await playWithSites({ hub, kubeconfigPath, directory }, startAgent, signal, play)
  }
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
  const sites: Record<string, ClusterClient> = {}
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

async function untilReady(hub: ClusterClient, signal: AbortSignal): Promise<void> {
  for (;;) {
    const { items } = await hub.resource(clusterResource).list({}, signal)
    const ready = items.filter(({ status }) =>
      status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True'),
    )
    if (ready.length === storySites.length) return
    await systemClock.sleep(pollMs, signal)
  }
}
