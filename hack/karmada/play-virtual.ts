import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createMetrics, linkedSignal, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { createCluster } from '@skerry/client'
import { runControllers } from '@skerry/controllers'
import { allowVirtualClusters } from '@skerry/karmada'
import { runKarmadaAgent, type KarmadaAgentOptions } from '../../cmd/karmada-agent.ts'
import { startTestAgent, startTestEdge, startTestHub } from '../../cmd/test-fleet.ts'
import { playAlike } from './play-alike.ts'
import { startStoryKarmada, untilNoRights, type StoryKarmada } from './story-karmada.ts'
import { parent, takeVirtualPicture, virtualStory, type VirtualWorld } from './virtual-story.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'story' }
const storyMs = 420_000

type Edge = Awaited<ReturnType<typeof startTestEdge>>

/**
 * Groups of one edge cluster's nodes at the real Karmada, where our agent has by one token an identity for
 * each; then the same at our hub: all looks alike.
 */
export async function playVirtual(): Promise<void> {
  const play = { story: virtualStory, look: takeVirtualPicture, karmada: atKarmada }
  await playAlike({ ...play, hubs: { hub: atHub } }, AbortSignal.timeout(storyMs))
}

type Play = (world: VirtualWorld) => Promise<void>

async function atKarmada(signal: AbortSignal, play: Play): Promise<void> {
  await using karmada = await startStoryKarmada()
  await using server = await startTestEdge({ hasVirtualClusters: true })
  const edge = createCluster(server.transport, deps)
  await using _namespaces = startNamespaces(server, signal)
  const directory = join(karmada.directory, 'agent')
  {
    await using _agent = startKarmadaPart(karmada, { directory, api: server.api }, signal)
    await play({ hub: karmada.hub, edge })
  }
  assert.deepEqual(await readdir(join(directory, 'clusters')), [])
  await untilNoRights(karmada.hub, `system:karmada:${parent}-`, signal)
  console.log('Karmada: of the virtual clusters no identity and no right is left')
}

function startKarmadaPart(
  { url, caHash, createToken }: StoryKarmada,
  { directory, api }: Pick<KarmadaAgentOptions, 'directory' | 'api'>,
  signal: AbortSignal,
): AsyncDisposable {
  const stop = linkedSignal(signal)
  const options: KarmadaAgentOptions = {
    directory,
    clusterName: parent,
    karmada: { server: url },
    tokenFile: undefined,
    tokenText: createToken(),
    caHash,
    api,
    hasVirtualClusters: true,
  }
  const context = { ...deps, metrics: createMetrics(), signal: stop.signal }
  const running = runKarmadaAgent(options, context).catch((error: unknown) => {
    if (!stop.signal.aborted) console.error('the agent has ended', error)
  })
  return stopping(stop, running)
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

/** Of the edge's controllers, those that make and empty namespaces. */
function startNamespaces({ transport }: Edge, signal: AbortSignal): AsyncDisposable {
  const stop = linkedSignal(signal)
  const cluster = createCluster(transport, deps)
  const names = ['namespace-controller', 'serviceaccount-controller']
  const running = runControllers(names, { ...deps, cluster }, stop.signal)
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
