import { asError } from '@skerry/base'
import { isStatusError } from '@skerry/api'
import { resources } from '@skerry/client'
import type { PlacingDeps } from './place-pod.ts'
import type { PodInfo } from './framework/pod-info.ts'
import { timestamp } from './report-unschedulable.ts'

export interface PreemptionTarget {
  /** The pod that gets the room. */
  pod: PodInfo
  nodeName: string
  victims: readonly PodInfo[]
}

/**
 * Records the reason on the victims, and deletes them. Pods of lower priority that waited there
 * look elsewhere.
 */
export async function preemptPods(
  deps: PlacingDeps,
  target: PreemptionTarget,
  signal: AbortSignal,
): Promise<void> {
  const going = target.victims.filter(({ pod }) => pod.metadata.deletionTimestamp === undefined)
  if (going.length > 0) await clearNominations(deps, target, signal)
  await Promise.all(going.map((victim) => evict(deps, target, { victim, signal })))
}

async function evict(
  deps: PlacingDeps,
  { pod: preemptor, nodeName }: PreemptionTarget,
  { victim, signal }: { victim: PodInfo; signal: AbortSignal },
): Promise<void> {
  const { name = '', namespace = '', generation, uid = '' } = victim.pod.metadata
  const pods = deps.informers.client(resources.pods)
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'PreemptionByScheduler',
    message: `${deps.profile.schedulerName}: preempting to accommodate a higher priority pod`,
    observedGeneration: generation,
    lastTransitionTime: timestamp(deps.clock),
  }
  try {
    const patch = { metadata: { uid }, status: { conditions: [condition] } }
    await pods.patchStatus({ type: 'strategic', namespace, name, patch }, signal)
    await pods.delete({ namespace, name, preconditions: { uid } }, signal)
  } catch (error) {
    // The victim is gone already, or another pod has its name, so its room is free.
    if (isStatusError(error, 'NotFound') || isStatusError(error, 'Conflict')) return
    throw error
  }
  deps.recorder.event(victim.pod, {
    type: 'Normal',
    reason: 'Preempted',
    action: 'Preempting',
    note: `Preempted by pod ${preemptor.uid} on node ${nodeName}`,
  })
}

/** The freed room is for the more important pod; the others may fit elsewhere. */
async function clearNominations(
  deps: PlacingDeps,
  { pod, nodeName }: PreemptionTarget,
  signal: AbortSignal,
): Promise<void> {
  const lower = deps.state.nominatedOn(nodeName).filter((each) => each.priority < pod.priority)
  for (const each of lower) {
    const { name = '', namespace = '' } = each.pod.metadata
    deps.state.denominate(each.uid)
    const patch = { status: { nominatedNodeName: null } }
    try {
      await deps.informers
        .client(resources.pods)
        .patchStatus({ type: 'merge', namespace, name, patch }, signal)
    } catch (error) {
      if (signal.aborted) throw error
      deps.log.info('Nomination not cleared', {
        pod: each.key,
        error: asError(error),
      })
    }
    deps.queue.wake(each.uid)
  }
}
