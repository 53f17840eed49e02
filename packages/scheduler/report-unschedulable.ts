import { asError, type Clock } from '@skerry/base'
import { isStatusError, type Pod } from '@skerry/api'
import { resources } from '@skerry/client'
import type { PlacingDeps } from './place-pod.ts'
import { schedulerBounds } from './limits-table.ts'

export interface Unschedulable {
  /** Unschedulable means that no node accepts the pod; SchedulerError that the attempt failed. */
  reason: 'Unschedulable' | 'SchedulerError'
  message: string
  /** The node on which room is being made. It is empty if there is none. */
  nominatedNode: string
  signal: AbortSignal
}

const { noteBytesMax } = schedulerBounds.reportUnschedulable

/** Records an event each time; condition and nomination only if they change. */
export async function reportUnschedulable(
  deps: PlacingDeps,
  pod: Pod,
  { reason, message, nominatedNode, signal }: Unschedulable,
): Promise<void> {
  const { name = '', namespace = '', uid } = pod.metadata
  const current = deps.informers.informer(resources.pods).get({ namespace, name })
  deps.recorder.event(current !== undefined && current.metadata.uid === uid ? current : pod, {
    type: 'Warning',
    reason: 'FailedScheduling',
    action: 'Scheduling',
    note: noteOf(message),
  })
  const old = (current?.status?.conditions ?? []).find((each) => each.type === 'PodScheduled')
  const isNominated = (current?.status?.nominatedNodeName ?? '') === nominatedNode
  const isTold = old?.status === 'False' && old.reason === reason && old.message === message
  if (isTold && isNominated) return
  const condition = {
    type: 'PodScheduled',
    status: 'False',
    reason,
    message,
    observedGeneration: pod.metadata.generation,
    lastTransitionTime: old?.status === 'False' ? old.lastTransitionTime : timestamp(deps.clock),
  }
  const nomination = isNominated ? {} : { nominatedNodeName: nominatedNode || null }
  const patch = { status: { conditions: [condition], ...nomination } }
  try {
    await deps.informers
      .client(resources.pods)
      .patchStatus({ type: 'strategic', namespace, name, patch }, signal)
  } catch (error) {
    if (signal.aborted || isStatusError(error, 'NotFound')) return
    deps.log.info('Pod condition not written', {
      pod: `${namespace}/${name}`,
      error: asError(error),
    })
  }
}

/** Cuts the message if it is too long for an event, but never within a character. */
export function noteOf(message: string): string {
  const bytes = Buffer.from(message)
  if (bytes.length <= noteBytesMax) return message
  const rest = ' ...'
  const kept = bytes.subarray(0, noteBytesMax - rest.length)
  // The decoder keeps back an incomplete character at the end, and no more bytes follow.
  return `${new TextDecoder().decode(kept, { stream: true })}${rest}`
}

/** Publishes where the pod is about to go, e.g. for an autoscaler (KEP-5278). */
export async function writeNomination(
  deps: PlacingDeps,
  pod: Pod,
  { nodeName, signal }: { nodeName: string; signal: AbortSignal },
): Promise<void> {
  const { name = '', namespace = '' } = pod.metadata
  const pods = deps.informers.informer(resources.pods)
  if (pods.get({ namespace, name })?.status?.nominatedNodeName === nodeName) return
  const patch = { status: { nominatedNodeName: nodeName } }
  await deps.informers
    .client(resources.pods)
    .patchStatus({ type: 'merge', namespace, name, patch }, signal)
}

export function timestamp(clock: Clock): string {
  return new Date(clock.now()).toISOString().replace(/\.\d{3}Z$/, 'Z')
}
