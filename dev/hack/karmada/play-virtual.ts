import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createMetrics, linkedSignal, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { createCluster, type ClusterClient } from '@skerry/client'
import { namedControllers, runControllers } from '@skerry/controllers'
import { clusterResource } from '@skerry/fleet-kinds'
import { allowVirtualClusters } from '@skerry/membership'
import { runKarmadaAgent, type KarmadaAgentOptions } from '../../../roles/agent/karmada-agent.ts'
import { startTestAgent, startTestEdge, startTestHub } from '../../../testing/scenes/test-fleet.ts'
import { playAlike } from './play-alike.ts'
import { startStoryKarmada, untilNoRights } from './story-karmada.ts'
import { parent, takeVirtualPicture, virtualStory, type VirtualWorld } from './virtual-story.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'story' }
const storyMs = 420_000

type Edge = Awaited<ReturnType<typeof startTestEdge>>

/**
 * Plays groups of one edge cluster's nodes at the real Karmada, where one token gives our agent an identity
 * for each, and then at our hub. Throws unless all looks alike.
 */
export async function playVirtual(): Promise<void> {
  const play = { story: virtualStory, look: takeVirtualPicture, karmada: atKarmada }
  await playAlike({ ...play, hubs: { hub: atHub } }, AbortSignal.timeout(storyMs))
}

type Play = (world: VirtualWorld) => Promise<void>

async function atKarmada(signal: AbortSignal, play: Play): Promise<void> {
  await using karmada = await startStoryKarmada()
  const { hub, url: server, caHash, directory } = karmada
  const home = join(directory, 'agent')
  const enrolment = { tokenFile: undefined, tokenText: karmada.createToken(), caHash }
  const byToken = { karmada: { server }, enrolment }
  await withAgent({ ...byToken, directory: home }, signal, (edge) => play({ hub, edge }))
  assert.deepEqual(await readdir(join(home, 'clusters')), [])
  await untilNoRights(hub, `system:karmada:${parent}-`, signal)
  console.log('Karmada: of the virtual clusters no identity and no right is left')
  const { transport } = karmada
  const none = { tokenFile: undefined, tokenText: undefined, caHash: undefined }
  const given = { karmada: { transport }, enrolment: none }
  await hub.resource(clusterResource).delete({ name: parent }, signal)
  await withAgent({ ...given, directory: join(directory, 'other') }, signal, async (edge) => {
    for (const step of [virtualStory.at(0), virtualStory.at(-1)]) {
      await step?.act({ hub, edge }, signal)
    }
  })
  console.log('Karmada: by an identity that somebody else has made they come and go, too')
}

type Given = Pick<KarmadaAgentOptions, 'karmada' | 'enrolment' | 'directory'>

/** Plays on a separate edge cluster, with the agent that the program runs. */
async function withAgent(
  given: Given,
  signal: AbortSignal,
  play: (edge: ClusterClient) => Promise<void>,
): Promise<void> {
  await using server = await startTestEdge({ hasVirtualClusters: true })
  await using _namespaces = startNamespaces(server, signal)
  const stop = linkedSignal(signal)
  const options: KarmadaAgentOptions = {
    ...given,
    clusterName: parent,
    api: server.api,
    hasVirtualClusters: true,
  }
  const context = { ...deps, metrics: createMetrics(), signal: stop.signal }
  const running = runKarmadaAgent(options, context).catch((error: unknown) => {
    if (!stop.signal.aborted) console.error('the agent has ended', error)
  })
  await using _agent = stopping(stop, running)
  await play(createCluster(server.transport, deps))
}

async function atHub(signal: AbortSignal, play: Play): Promise<void> {
  await using fleet = await startTestHub()
  await using server = await startTestEdge({ hasVirtualClusters: true })
  const edge = createCluster(server.transport, deps)
  await using _namespaces = startNamespaces(server, signal)
  await allowVirtualClusters(fleet.admin, { cluster: parent, isAllowed: true }, signal)
  const asked = { name: parent, api: server.api, hasVirtualClusters: true, appliesWorks: true }
  await using _agent = await startTestAgent(fleet, asked)
  await play({ hub: fleet.admin, edge })
}

/** Starts the controllers of the edge that fill and empty namespaces. */
function startNamespaces({ transport }: Edge, signal: AbortSignal): AsyncDisposable {
  const stop = linkedSignal(signal)
  const cluster = createCluster(transport, deps)
  const names = ['namespace-controller', 'serviceaccount-controller']
  const running = runControllers(namedControllers(names), { ...deps, cluster }, stop.signal)
  return stopping(stop, running)
}

function stopping(
  stop: ReturnType<typeof linkedSignal>,
  running: Promise<unknown>,
): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the story is over'))
      await running.catch((error: unknown) => {
        if (!stop.signal.aborted) throw error
      })
    },
  }
}
