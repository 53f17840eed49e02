import { asError } from '@skerry/base'
import { isStatusError, type Node, type Pod } from '@skerry/api'
import { keyOfObject, resources, type ResourceClient } from '@skerry/client'
import type { BackgroundController, ControllerDeps } from '@skerry/controller-runtime'
import { markDisrupted } from '../pods/disruption-target.ts'
import { isPodFinished, isPodTerminating } from '../pods/pod-state.ts'
import { controllerBounds } from '../limits-table.ts'

const { checkMs, quarantineMs, finishedPodsMax } = controllerBounds.podGcController

interface PodGcInput {
  pods: readonly Pod[]
  nodes: ReadonlyMap<string, Node>
  /** The names of missing nodes, and since when they are missing (monotonic). */
  missingSinceMs: ReadonlyMap<string, number>
  nowMs: number
}

/**
 * Returns the pods that no kubelet will finish: finished ones beyond the limit, those on a missing
 * node, and those deleted before they had one.
 */
function planPodGc(input: PodGcInput): Pod[] {
  const finished = input.pods
    .filter((pod) => isPodFinished(pod) && pod.metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => createdMs(a) - createdMs(b))
  const surplus = finished.slice(0, Math.max(0, finished.length - finishedPodsMax))
  const lost = input.pods.filter((pod) => {
    const nodeName = pod.spec?.nodeName ?? ''
    if (nodeName === '') return pod.metadata.deletionTimestamp !== undefined
    const node = input.nodes.get(nodeName)
    if (node !== undefined) return isPodTerminating(pod) && isOutOfService(node)
    const sinceMs = input.missingSinceMs.get(nodeName)
    return sinceMs !== undefined && input.nowMs - sinceMs >= quarantineMs
  })
  return [...new Set([...surplus, ...lost])]
}

/** Returns true if nothing runs on the node any more: it was marked so, and is not ready. */
function isOutOfService({ spec, status }: Node): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  return (
    ready?.status !== 'True' &&
    spec?.taints?.some(({ key }) => key === 'node.kubernetes.io/out-of-service') === true
  )
}

function createdMs(pod: Pod): number {
  return Date.parse(pod.metadata.creationTimestamp ?? '') || 0
}

export const podGcController: BackgroundController = {
  name: 'pod-garbage-collector-controller',
  async run(deps, signal) {
    const missingSinceMs = new Map<string, number>()
    const pods = deps.informers.informer(resources.pods)
    const nodes = deps.informers.informer(resources.nodes)
    await Promise.all([pods.whenSynced(signal), nodes.whenSynced(signal)])
    for (;;) {
      const known = new Map(nodes.list().map((node) => [node.metadata.name ?? '', node]))
      noteMissing({ pods: pods.list(), nodes: known, missingSinceMs }, deps.clock.monotonicMs())
      const plan = planPodGc({
        pods: pods.list(),
        nodes: known,
        missingSinceMs,
        nowMs: deps.clock.monotonicMs(),
      })
      for (const pod of plan) {
        const hasNode = known.has(pod.spec?.nodeName ?? '')
        await removePod({ pod, hasNode }, deps, signal)
      }
      await deps.clock.sleep(checkMs, signal)
    }
  },
}

function noteMissing(
  world: {
    pods: readonly Pod[]
    nodes: ReadonlyMap<string, Node>
    missingSinceMs: Map<string, number>
  },
  nowMs: number,
): void {
  for (const name of world.missingSinceMs.keys()) {
    if (world.nodes.has(name)) world.missingSinceMs.delete(name)
  }
  for (const pod of world.pods) {
    const name = pod.spec?.nodeName ?? ''
    if (name !== '' && !world.nodes.has(name) && !world.missingSinceMs.has(name)) {
      world.missingSinceMs.set(name, nowMs)
    }
  }
}

async function removePod(
  { pod, hasNode }: { pod: Pod; hasNode: boolean },
  deps: ControllerDeps,
  signal: AbortSignal,
): Promise<void> {
  const { name = '', namespace, uid } = pod.metadata
  const pods = deps.informers.client(resources.pods)
  try {
    if (hasNode || (pod.spec?.nodeName ?? '') === '') {
      await markFailed(pod, pods, signal)
    } else {
      const text = {
        reason: 'DeletionByPodGC' as const,
        message: 'PodGC: node no longer exists',
        isFailed: true,
        nowMs: deps.clock.now(),
      }
      await markDisrupted(pod, text, pods, signal)
    }
    const request = { namespace, name, gracePeriodSeconds: 0, preconditions: { uid } }
    await pods.delete(request, signal)
    deps.log.info('Pod collected', { pod: keyOfObject(pod), node: pod.spec?.nodeName })
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (isStatusError(error, 'NotFound') || isStatusError(error, 'Conflict')) return
    deps.log.error('Pod not collected, trying again', {
      pod: keyOfObject(pod),
      error: asError(error),
    })
  }
}

/** Records the pod's end before deleting it, as its kubelet would have done. */
async function markFailed(pod: Pod, pods: ResourceClient<Pod>, signal: AbortSignal): Promise<void> {
  if (isPodFinished(pod)) return
  const { namespace, name = '', uid } = pod.metadata
  const patch = { metadata: { uid }, status: { phase: 'Failed' } }
  await pods.patchStatus({ namespace, name, type: 'strategic', patch }, signal)
}
