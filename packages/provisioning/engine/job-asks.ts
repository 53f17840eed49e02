import { stepText, type StepStatus } from '../kind/edge-cluster.ts'
import type { StepInstance } from './plan-steps.ts'

const finished: ReadonlySet<StepStatus['state']> = new Set(['Done', 'Skipped'])

const names = (list: readonly string[], machine: string | undefined): boolean =>
  list.includes('*') || (machine !== undefined && list.includes(machine))

/**
 * Begins machines again. One that has failed, and perhaps was rolled back, begins with its first step; what a person has
 * confirmed stays so. One that could not be put right is only put right. Others stop to wait.
 */
export function retriedSteps(
  steps: readonly StepStatus[],
  machines: readonly string[],
  answers: ReadonlySet<string>,
): StepStatus[] {
  // A machine that could not be put back into its former state is put back first, and begun again after that.
  const stuck = new Set(
    steps.flatMap(({ name, state, machine }) =>
      state === 'Failed' && answers.has(name) ? [machine] : [],
    ),
  )
  const failed = new Set(steps.flatMap((step) => (step.state === 'Failed' ? [step.machine] : [])))
  return steps.map((step) => {
    if (!names(machines, step.machine)) return step
    const { name, machine, state } = step
    const isKept = state === 'Done' && !failed.has(machine)
    const fresh: StepStatus = {
      name,
      ...(machine === undefined ? {} : { machine }),
      state: 'Waiting',
    }
    if (stuck.has(machine)) return state === 'Failed' && answers.has(name) ? fresh : step
    if (failed.has(machine)) return fresh
    if (state === 'Cancelled') return fresh
    if (isKept || step.nextTime === undefined) return step
    const { nextTime: _, ...rest } = step
    return rest
  })
}

/** A confirmation is acted on at once. */
export function confirmedSteps(
  steps: readonly StepStatus[],
  confirmed: readonly string[],
): StepStatus[] {
  return steps.map((step) => {
    if (step.reason !== 'Unconfirmed' || !names(confirmed, step.machine)) return step
    const { nextTime: _, ...rest } = step
    return rest
  })
}

/** Nothing further begins but on machines that are being changed. */
export function cancelledSteps(
  steps: readonly StepStatus[],
  inChange: ReadonlySet<string>,
): StepStatus[] {
  const failed = new Set(steps.flatMap((step) => (step.state === 'Failed' ? [step.machine] : [])))
  return steps.map((step) => {
    const { machine, state } = step
    const isOpen = state === 'Waiting' || state === 'Running'
    // The answer to a failure is still to be given.
    if (!isOpen || inChange.has(machine ?? '') || failed.has(machine)) return step
    const { nextTime: _, reason: __, ...rest } = step
    return { ...rest, state: 'Cancelled', message: 'a person has cancelled it' }
  })
}

/** The answer to a failure is not needed on machines where all that it answers is done. */
export function settledSteps(
  instances: readonly StepInstance[],
  steps: readonly StepStatus[],
): StepStatus[] {
  const stateOf = new Map(steps.map((step) => [stepText(step), step.state]))
  const unneeded = new Set(
    instances.flatMap(({ step, machine, text }) => {
      const undone = step.undoes ?? []
      const isDone = undone.every((name) => {
        const state = stateOf.get(
          stepText({ name, ...(machine ? { machine: machine.address } : {}) }),
        )
        return state !== undefined && finished.has(state)
      })
      return undone.length > 0 && isDone ? [text] : []
    }),
  )
  return steps.map((step) =>
    unneeded.has(stepText(step)) && step.state === 'Waiting'
      ? { ...step, state: 'Skipped', message: 'nothing is to be taken back' }
      : step,
  )
}
