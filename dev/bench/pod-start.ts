import { type ClusterClient, resources } from '@skerry/client'
import { dialContainerd } from '@skerry/kubelet'
import { startBare } from './bare-containerd.ts'
import { examplePod } from './measure/example-pod.ts'
import { beside, type Figure } from './measure/figure.ts'

export interface PodStartOptions {
  readonly rounds: number
  readonly containerdSocket: string
  readonly logDirectory: string
}

/**
 * Measures the time from the request that creates a pod to the watch event that reports Running, through
 * scheduler and node agent, next to containerd alone for the same sandbox and container; in turns, one at a
 * time.
 */
export async function measurePodStart(
  cluster: ClusterClient,
  options: PodStartOptions,
  signal: AbortSignal,
): Promise<Figure> {
  await using runtime = dialContainerd(options.containerdSocket)
  const ours: number[] = []
  const peer: number[] = []
  // The first of each warms files and code and is not counted.
  for (let round = 0; round <= options.rounds; round++) {
    const own = await startOurs(cluster, `start-${round}`, signal)
    const bare = { name: `bare-${round}`, logDirectory: options.logDirectory }
    const theirs = await startBare(runtime, bare, signal)
    if (round === 0) continue
    ours.push(own)
    peer.push(theirs)
  }
  return beside('pod.create-to-running', { unit: 'ms', ours, peer, goal: 2 })
}

async function startOurs(
  cluster: ClusterClient,
  name: string,
  signal: AbortSignal,
): Promise<number> {
  const pods = cluster.resource(resources.pods)
  const { metadata } = await pods.list({ namespace: 'default' }, signal)
  const running = until(cluster, { name, after: metadata.resourceVersion ?? '' }, signal)
  const startMs = performance.now()
  await pods.create(examplePod(name), signal)
  await running
  const tookMs = performance.now() - startMs
  await pods.delete({ namespace: 'default', name, gracePeriodSeconds: 0 }, signal)
  return tookMs
}

async function until(
  cluster: ClusterClient,
  { name, after }: { name: string; after: string },
  signal: AbortSignal,
): Promise<void> {
  const request = {
    namespace: 'default',
    fieldSelector: `metadata.name=${name}`,
    resourceVersion: after,
  }
  for await (const event of cluster.resource(resources.pods).watch(request, signal)) {
    if (event.type !== 'BOOKMARK' && event.object.status?.phase === 'Running') return
  }
  throw new Error(`Cannot measure: the watch of pod ${name} ended before it ran`)
}
