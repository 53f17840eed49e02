import type { ObservedContainer } from '../pod/observed-pod.ts'
import { emptyPlan, type PodPlan, type PodPlanInput, type Termination } from './pod-actions.ts'
import { isSidecar, specOf } from '../pod/pod-spec.ts'

/**
 * Ends regular containers together; then sidecars, the last one first, so that each still serves those before
 * it. All share one grace period.
 */
export function planTermination(input: PodPlanInput, termination: Termination): PodPlan {
  const { observed, pod, nowMs } = input
  const alive = observed.containers.filter(({ state }) => state === 'running')
  if (alive.length === 0) {
    return {
      ...emptyPlan,
      stopSandboxes: observed.sandboxes.filter(({ isReady }) => isReady),
      isFinished: true,
    }
  }
  const sidecars = (specOf(pod).initContainers ?? []).filter(isSidecar).map(({ name }) => name)
  const isOther = ({ name }: ObservedContainer): boolean => !sidecars.includes(name)
  const lastSidecar = sidecars.findLast((name) => alive.some((one) => one.name === name))
  const turn = alive.some(isOther)
    ? alive.filter(isOther)
    : alive.filter(({ name }) => name === lastSidecar)
  const leftSeconds = termination.graceSeconds - (nowMs - termination.startedAtMs) / 1000
  return {
    ...emptyPlan,
    kill: turn.map((container) => ({
      container,
      reason: 'pod-ends',
      message: `Stopping container ${container.name}`,
      graceSeconds: Math.max(0, Math.ceil(leftSeconds)),
    })),
  }
}
