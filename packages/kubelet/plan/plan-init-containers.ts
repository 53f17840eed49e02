import type { Container } from '@skerry/api'
import { latestContainer, type ObservedContainer, type ObservedPod } from '../pod/observed-pod.ts'
import {
  killOfRunning,
  killOfUnknown,
  startOf,
  updatesOf,
  type KillAction,
  type PodPlanInput,
  type StartAction,
  type UpdateAction,
} from './pod-actions.ts'
import { isSidecar, shouldRestart, specOf } from '../pod/pod-spec.ts'

export interface InitPlan {
  kill: KillAction[]
  update: UpdateAction[]
  start: StartAction[]
  /** All have done their part: regular containers may run. */
  isInitialized: boolean
  /** True if one failed for good, and so the pod has failed. */
  isFailed: boolean
}

/**
 * Plans init containers one after the other; a sidecar has done its part once it started. After a regular
 * container ran, only sidecars count, even if the runtime has forgotten the others.
 */
export function planInitContainers(input: PodPlanInput, inSandbox: ObservedPod): InitPlan {
  const spec = specOf(input.pod)
  const plan: InitPlan = {
    kill: [],
    update: [],
    start: [],
    isInitialized: true,
    isFailed: false,
  }
  const wasInitialized = spec.containers.some(({ name }) => latestContainer(inSandbox, name))
  for (const container of spec.initContainers ?? []) {
    const observed = latestContainer(inSandbox, container.name)
    if (isSidecar(container)) {
      const isStarted = planSidecar(input, plan, { container, observed })
      if (isStarted || wasInitialized) continue
    } else if (wasInitialized || isInitDone(plan, input, { container, observed })) continue
    return { ...plan, isInitialized: false }
  }
  return plan
}

interface InitContainer {
  container: Container
  observed: ObservedContainer | undefined
}

/** Adds the necessary actions; returns true once it has done its part. */
function isInitDone(
  plan: InitPlan,
  input: PodPlanInput,
  { container, observed }: InitContainer,
): boolean {
  if (observed?.state === 'exited' && observed.exitCode === 0) return true
  if (observed?.state === 'running') return false
  if (
    observed?.state === 'exited' &&
    !shouldRestart(container, specOf(input.pod), observed.exitCode)
  ) {
    plan.isFailed = true
    return false
  }
  if (observed?.state === 'unknown') plan.kill.push(killOfUnknown(observed, 'Init container'))
  plan.start.push(startOf(input, container, 'init'))
  return false
}

/** A sidecar is always started again, whatever the pod's restart policy. */
function planSidecar(
  input: PodPlanInput,
  plan: InitPlan,
  { container, observed }: InitContainer,
): boolean {
  if (observed?.state !== 'running') {
    if (observed?.state === 'unknown') plan.kill.push(killOfUnknown(observed, 'Init container'))
    plan.start.push(startOf(input, container, 'sidecar'))
    return false
  }
  const kill = killOfRunning(input, container, observed, 'Init container')
  if (kill) {
    plan.kill.push(kill)
    plan.start.push(startOf(input, container, 'sidecar'))
    return kill.reason !== 'startup'
  }
  plan.update.push(...updatesOf(input, container, observed))
  return !container.startupProbe || input.probes.get(observed.id)?.startup === 'success'
}
