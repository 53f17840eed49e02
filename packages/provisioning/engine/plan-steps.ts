import { createHash } from 'node:crypto'
import {
  type EdgeCluster,
  type EdgeClusterSpec,
  type MachineStatus,
  type StepState,
  type StepStatus,
  stepText,
} from '../kind/edge-cluster.ts'
import type { PlannedMachine } from '../kind/machine-addresses.ts'
import type { Step, StepPlace } from '../contract/step.ts'

/** One step on one machine, or once for the cluster. */
export interface StepInstance {
  readonly step: Step
  /** Undefined for a step of the hub. */
  readonly machine: PlannedMachine | undefined
  /** The name as people write it: `Preflight@10.0.0.11`. */
  readonly text: string
}

const finished: ReadonlySet<StepState> = new Set(['Done', 'Skipped'])

/** Reports whether a step has nothing left to do. */
export function isFinished({ state }: Pick<StepStatus, 'state'>): boolean {
  return finished.has(state)
}

/** Returns every step of a cluster in the order of the table, and for each step the machines in theirs. */
export function instancesOf(
  steps: readonly Step[],
  machines: readonly PlannedMachine[],
  known: readonly MachineStatus[],
): StepInstance[] {
  const statusOf = new Map(known.map((status) => [status.address, status]))
  const of = (place: StepPlace): readonly (PlannedMachine | undefined)[] => {
    if (place === 'hub') return [undefined]
    return place === 'master' ? machines.filter(({ role }) => role === 'Master') : machines
  }
  const applies = (step: Step, machine: PlannedMachine | undefined): boolean => {
    const status = machine && statusOf.get(machine.address)
    return status === undefined || step.appliesTo?.(status) !== false
  }
  return steps.flatMap((step) => {
    const asked = of(step.place).filter((machine) => applies(step, machine))
    return asked.map((machine) => {
      const text = stepText({
        name: step.name,
        ...(machine === undefined ? {} : { machine: machine.address }),
      })
      return { step, machine, text }
    })
  })
}

/**
 * Returns the known status of each instance, or that it waits. Steps that are not planned any more are left out.
 * `inputs` has the present digest of the fields that a step carries out, by its name.
 */
export function statusesOf(
  instances: readonly StepInstance[],
  known: readonly StepStatus[],
  { skipSteps = [] }: Pick<EdgeClusterSpec, 'skipSteps'>,
  inputs: ReadonlyMap<string, string> = new Map(),
): StepStatus[] {
  const byText = new Map(known.map((status) => [stepText(status), status]))
  return instances.map(({ step, machine, text }) => {
    const input = inputs.get(step.name)
    const fresh: StepStatus = {
      name: step.name,
      ...(machine === undefined ? {} : { machine: machine.address }),
      state: 'Waiting',
      ...(input === undefined ? {} : { input }),
    }
    const before = byText.get(text)
    const status = before === undefined || before.input !== input ? fresh : before
    const isSkipped = skipSteps.includes(step.name) || skipSteps.includes(text)
    if (!isSkipped || !isSkippable(status) || status.state === 'Done') return status
    return { ...status, state: 'Skipped', message: 'spec.skipSteps names it' }
  })
}

/** A step of the hub itself gives and takes names and rights, so nobody who writes an EdgeCluster may skip it. */
export function isSkippable({ machine }: Pick<StepStatus, 'machine'>): boolean {
  return machine !== undefined
}

/** Returns the digests of the fields that steps carry out, by the names of the steps. */
export function inputsOf(steps: readonly Step[], edge: EdgeCluster): Map<string, string> {
  return new Map(
    steps.flatMap(({ name, input }) => {
      if (input === undefined) return []
      const text = JSON.stringify(input(edge) ?? null)
      return [[name, createHash('sha256').update(text).digest('hex').slice(0, 12)] as const]
    }),
  )
}

/**
 * Returns the instances that may begin now. An instance may begin when everything before it on its machine is
 * finished, and everything before it on the master and the hub: nodes need a master, and do not wait for each other.
 * The steps of the hub at the end wait for nothing but the master. A step that only reads waits for nothing on
 * another machine.
 */
export function readySteps(
  instances: readonly StepInstance[],
  statuses: readonly StepStatus[],
  nowMs: number,
): StepInstance[] {
  const stateOf = new Map(statuses.map((status) => [stepText(status), status]))
  const blocked = { all: false, reading: false, machines: new Set<string>() }
  const ready: StepInstance[] = []
  for (const instance of instances) {
    const { step, machine, text } = instance
    const status = stateOf.get(text)
    if (status === undefined || isFinished(status)) continue
    const isHeld = step.onlyReads === true ? blocked.reading : blocked.all
    const isBlocked = isHeld || (machine !== undefined && blocked.machines.has(machine.address))
    const isDue = status.nextTime === undefined || Date.parse(status.nextTime) <= nowMs
    const canRun = status.state === 'Waiting' || status.state === 'Running'
    if (!isBlocked && canRun && isDue) ready.push(instance)
    if (machine === undefined || machine.role === 'Master') blocked.all = true
    // A step on the master that is not for each machine holds up readers, too: it comes between them.
    if (machine === undefined || step.place === 'master') blocked.reading = true
    if (machine !== undefined) blocked.machines.add(machine.address)
  }
  return ready
}

/** Returns the time of the next attempt that is planned, in milliseconds; undefined if none is. */
export function nextAttemptMs(statuses: readonly StepStatus[]): number | undefined {
  const times = statuses.flatMap(({ state, nextTime }) =>
    state === 'Waiting' && nextTime !== undefined ? [Date.parse(nextTime)] : [],
  )
  return times.length === 0 ? undefined : Math.min(...times)
}
