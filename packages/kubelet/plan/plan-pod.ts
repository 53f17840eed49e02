import type { Container } from '@skerry/api'
import {
  latestContainer,
  usableSandbox,
  type ObservedPod,
  type ObservedSandbox,
} from '../pod/observed-pod.ts'
import { planInitContainers } from './plan-init-containers.ts'
import { planTermination } from './plan-termination.ts'
import {
  backoffKey,
  emptyPlan,
  killOfRunning,
  killOfUnknown,
  startOf,
  updatesOf,
  type KillAction,
  type PodPlan,
  type PodPlanInput,
  type StartAction,
  type UpdateAction,
  type WaitingContainer,
} from './pod-actions.ts'
import { describePod, isHostNetwork, shouldRestart, specOf } from '../pod/pod-spec.ts'
import { backoffUntilMs, formatGoDuration } from '../pod/restart-backoff.ts'
import { restartBackoffDefaults } from '../limits-table.ts'

/** Decides; touches nothing. The same input gives the same plan. */
export function planPod(input: PodPlanInput): PodPlan {
  if (input.termination) return planTermination(input, input.termination)
  const sandbox = usableSandbox(input.observed, isHostNetwork(input.pod))
  return sandbox ? planInSandbox(input, sandbox) : planNewSandbox(input)
}

/** Starts everything from the beginning, except containers that may not run twice. */
function planNewSandbox(input: PodPlanInput): PodPlan {
  const { pod, observed } = input
  const spec = specOf(pod)
  const [newest] = observed.sandboxes
  const toStart = spec.containers.filter((container) => {
    const latest = latestContainer(observed, container.name)
    if (!latest || latest.state === 'created') return true
    return shouldRestart(container, spec, latest.state === 'exited' ? latest.exitCode : 255)
  })
  const wasInitialized = spec.containers.some(({ name }) => latestContainer(observed, name))
  if (toStart.length === 0 && wasInitialized) return { ...emptyPlan, isFinished: true }
  const [firstInit] = spec.initContainers ?? []
  const starts = firstInit
    ? [startOf(input, firstInit, firstInit.restartPolicy === 'Always' ? 'sidecar' : 'init')]
    : toStart.map((container) => startOf(input, container, 'regular'))
  const running = observed.containers.filter(({ state }) => state === 'running')
  return withBackOff(input, {
    ...emptyPlan,
    kill: running.map((container) => ({
      container,
      reason: 'unknown-state',
      message: `Stopping container ${container.name}`,
      graceSeconds: 2,
    })),
    stopSandboxes: observed.sandboxes.filter(({ isReady }) => isReady),
    createSandbox: newest ? newest.attempt + 1 : 0,
    start: starts,
  })
}

function planInSandbox(input: PodPlanInput, sandbox: ObservedSandbox): PodPlan {
  const here = input.observed.containers.filter(({ sandboxId }) => sandboxId === sandbox.id)
  const inSandbox = { ...input.observed, containers: here }
  const ephemeral = (specOf(input.pod).ephemeralContainers ?? [])
    .filter(({ name }) => !latestContainer(inSandbox, name))
    .map((container) => startOf(input, container, 'ephemeral'))
  const init = planInitContainers(input, inSandbox)
  if (init.isFailed) return { ...emptyPlan, isFinished: true }
  if (!init.isInitialized) {
    return withBackOff(input, { ...emptyPlan, ...init, start: [...ephemeral, ...init.start] })
  }
  const regular = planRegularContainers(input, inSandbox)
  if (regular.keptCount === 0 && regular.start.length === 0) {
    return { ...emptyPlan, isFinished: true }
  }
  return withBackOff(input, {
    ...emptyPlan,
    kill: [...init.kill, ...regular.kill],
    update: [...init.update, ...regular.update],
    start: [...ephemeral, ...init.start, ...regular.start],
  })
}

interface RegularPlan {
  kill: KillAction[]
  update: UpdateAction[]
  start: StartAction[]
  /** The number of running containers that stay as they are. */
  keptCount: number
}

function planRegularContainers(input: PodPlanInput, inSandbox: ObservedPod): RegularPlan {
  const spec = specOf(input.pod)
  const plan: RegularPlan = { kill: [], update: [], start: [], keptCount: 0 }
  for (const container of spec.containers) {
    const observed = latestContainer(inSandbox, container.name)
    if (observed?.state === 'running') {
      const kill = killOfRunning(input, container, observed)
      if (!kill) {
        plan.keptCount += 1
        plan.update.push(...updatesOf(input, container, observed))
      } else {
        const isChanged = kill.reason === 'spec-changed' || kill.reason === 'resized'
        const isRestarted = isChanged || mayRestartKilled(input, container)
        const message = isRestarted ? `${kill.message}, will be restarted` : kill.message
        plan.kill.push({ ...kill, message })
        if (isRestarted) plan.start.push(startOf(input, container, 'regular'))
      }
      continue
    }
    if (!observed) {
      if (shouldStartMissing(input, container))
        plan.start.push(startOf(input, container, 'regular'))
      continue
    }
    if (observed.state === 'exited' && !shouldRestart(container, spec, observed.exitCode)) continue
    if (observed.state === 'unknown') plan.kill.push(killOfUnknown(observed))
    plan.start.push(startOf(input, container, 'regular'))
  }
  return plan
}

/** A container that ended successfully in a former sandbox does not run again if the policy forbids it. */
function shouldStartMissing(input: PodPlanInput, container: Container): boolean {
  const before = latestContainer(input.observed, container.name)
  if (before?.state !== 'exited') return true
  return shouldRestart(container, specOf(input.pod), before.exitCode)
}

function mayRestartKilled(input: PodPlanInput, container: Container): boolean {
  return (container.restartPolicy ?? specOf(input.pod).restartPolicy) !== 'Never'
}

/** Removes containers that must wait, with the time of their next start. */
function withBackOff(input: PodPlanInput, plan: PodPlan): PodPlan {
  const backOff: WaitingContainer[] = []
  const start = plan.start.filter(({ container, afterExitMs }) => {
    const backoff = input.backoffs.get(backoffKey(container))
    if (afterExitMs === undefined || !backoff) return true
    const untilMs = backoffUntilMs(backoff, afterExitMs)
    if (untilMs === undefined || untilMs <= input.nowMs) return true
    // An end in the future was recorded by a fast clock, so it causes no wait.
    if (afterExitMs > input.nowMs + restartBackoffDefaults.maxMs) return true
    const delay = formatGoDuration(backoff.delayMs)
    backOff.push({
      name: container.name,
      reason: 'CrashLoopBackOff',
      message: `back-off ${delay} restarting failed container=${container.name} pod=${describePod(input.pod)}`,
      untilMs,
    })
    return false
  })
  if (backOff.length === 0) return plan
  return { ...plan, start, backOff, wakeAtMs: Math.min(...backOff.map(({ untilMs }) => untilMs)) }
}
