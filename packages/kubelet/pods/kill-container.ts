import { asError, linkedSignal } from '@skerry/base'
import type { Pod } from '@skerry/api'
import { ignoreNotFound } from '../cri/ignore-not-found.ts'
import type { NodeContext } from './node-context.ts'
import { containerEvent } from '../pod/container-event.ts'
import { runHook } from './lifecycle-hook.ts'
import type { KillAction } from '../plan/pod-actions.ts'
import { findContainer } from '../pod/pod-spec.ts'
import { kubeletBounds } from '../limits-table.ts'

const { stopSecondsMin } = kubeletBounds.killContainer

/**
 * Runs the preStop hook, sends the stop signal, and kills after the grace period. Resolves when the container
 * is gone.
 */
export async function killContainer(
  context: NodeContext,
  { pod, podIp, action }: { pod: Pod; podIp: string; action: KillAction },
  signal: AbortSignal,
): Promise<void> {
  const { container, message } = action
  containerEvent(context.events, pod, container.name, {
    type: 'Normal',
    reason: 'Killing',
    message,
  })
  const spentSeconds = await runPreStop(context, { pod, podIp, action }, signal)
  const seconds = Math.max(stopSecondsMin, action.graceSeconds - spentSeconds)
  await ignoreNotFound(context.runtime.stopContainer(container.id, seconds, signal))
}

/** Resolves with the time that it took. It is cut off at the grace period; its failure only causes an event. */
async function runPreStop(
  context: NodeContext,
  { pod, podIp, action }: { pod: Pod; podIp: string; action: KillAction },
  signal: AbortSignal,
): Promise<number> {
  const { clock, events } = context
  const container = findContainer(pod, action.container.name)?.container
  const preStop = container?.lifecycle?.preStop
  if (!container || !preStop || action.graceSeconds <= 0) return 0
  const startMs = clock.monotonicMs()
  using scope = linkedSignal(signal)
  const tooLong = new Error('the grace period ended')
  using _timer = clock.setTimer(action.graceSeconds * 1000, () => scope.abort(tooLong))
  try {
    const target = { containerId: action.container.id, container, podIp }
    await runHook(preStop, target, context, scope.signal)
  } catch (error) {
    signal.throwIfAborted()
    context.log.debug('preStop hook failed', { error: asError(error) })
    const text = { type: 'Warning', reason: 'FailedPreStopHook', message: 'PreStopHook failed' }
    containerEvent(events, pod, container.name, { ...text, type: 'Warning' })
  }
  return Math.ceil((clock.monotonicMs() - startMs) / 1000)
}
