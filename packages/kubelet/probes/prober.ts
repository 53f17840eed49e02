import type { Container, EphemeralContainer, Pod, Probe } from '@skerry/api'
import { containerEvent } from '../pod/container-event.ts'
import type { ProbeContext } from './probe-context.ts'
import { probeOnce } from './probe-once.ts'
import type { ProbeResult } from './probe-results.ts'
import { kubeletBounds } from '../limits-table.ts'
import { initialCount, countOutcome, type ProbeKind } from './probe-count.ts'

export interface ProbeTarget {
  pod: Pod
  container: Container | EphemeralContainer
  containerId: string
  podIp: string
  startedAtMs: number
}

export interface ProberOptions {
  kind: ProbeKind
  probe: Probe
  target: ProbeTarget
  /** The result that an earlier run of the agent reported for this very container. */
  initial: ProbeResult | undefined
  /** Reports whether the startup probe has succeeded, for which liveness and readiness wait. */
  isStarted: () => boolean
  onResult: (result: ProbeResult) => void
}

const periodSecondsDefault = 10

/**
 * Probes until the signal aborts. A liveness or startup probe that has failed stops: the container is about
 * to be replaced. A startup probe that has succeeded is done.
 */
export async function runProber(
  options: ProberOptions,
  context: ProbeContext,
  signal: AbortSignal,
): Promise<void> {
  const { kind, probe, target, isStarted, onResult } = options
  const { clock } = context
  const periodMs = (probe.periodSeconds ?? periodSecondsDefault) * 1000
  const delayMs = (probe.initialDelaySeconds ?? 0) * 1000
  let state = initialCount(kind, options.initial)
  onResult(state.result)
  if (kind === 'startup' && state.result === 'success') return
  const waitMs = target.startedAtMs + delayMs - clock.now()
  if (waitMs > 0) await clock.sleep(waitMs, signal)
  for (;;) {
    if (kind === 'startup' || isStarted()) {
      const outcome = await probeOnce(probe, { target, context }, signal)
      if (outcome.isFailure) announce(context, target, `${labels[kind]} ${outcome.message}`)
      if (outcome.isCounted) {
        state = countOutcome(state, outcome.isFailure ? 'failure' : 'success', probe)
      }
      onResult(state.result)
      if (kind !== 'readiness' && state.result === 'failure') return
      if (kind === 'startup' && state.result === 'success') return
    }
    await clock.sleep(isStarted() || kind === 'startup' ? periodMs : startPollMs, signal)
  }
}

const { startPollMs } = kubeletBounds.prober

const labels: Readonly<Record<ProbeKind, string>> = Object.freeze({
  startup: 'Startup',
  liveness: 'Liveness',
  readiness: 'Readiness',
})

function announce(context: ProbeContext, { pod, container }: ProbeTarget, message: string): void {
  containerEvent(context.events, pod, container.name, {
    type: 'Warning',
    reason: 'Unhealthy',
    message,
  })
}
