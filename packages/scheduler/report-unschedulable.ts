import type { Clock } from '@skerry/base'
import { isStatusError, type Pod } from '@skerry/api'
import { resources } from '@skerry/client'
import type { PlacingDeps } from './place-pod.ts'

export interface Unschedulable {
  message: string
  /** The node on which room is being made; empty: none. */
  nominatedNode: string
  signal: AbortSignal
}

/** The event each time; condition and nomination only when they say something new. */
export async function reportUnschedulable(
  deps: PlacingDeps,
  pod: Pod,
  { message, nominatedNode, signal }: Unschedulable,
): Promise<void> {
  deps.recorder.event(pod, { type: 'Warning', reason: 'FailedScheduling', message })
  const { name = '', namespace = '' } = pod.metadata
  const current = deps.informers.informer(resources.pods).get({ namespace, name })
  const old = (current?.status?.conditions ?? []).find((each) => each.type === 'PodScheduled')
  const isNominated = (current?.status?.nominatedNodeName ?? '') === nominatedNode
  if (old?.status === 'False' && old.message === message && isNominated) return
  const condition = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
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
      error: error instanceof Error ? error : null,
    })
  }
}

export function timestamp(clock: Clock): string {
  return new Date(clock.now()).toISOString().replace(/\.\d{3}Z$/, 'Z')
}
