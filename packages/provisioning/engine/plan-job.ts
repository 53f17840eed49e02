import { labelSelectorOf } from '@skerry/api'
import type { Step } from '../contract/step.ts'
import {
  stepText,
  type EdgeCluster,
  type MachineStatus,
  type StepStatus,
} from '../kind/edge-cluster.ts'
import type { EdgeJobSpec } from '../kind/edge-job.ts'
import type { PlannedMachine } from '../kind/machine-addresses.ts'
import { hasFailed, instancesOf, type StepInstance } from './plan-steps.ts'

/** Returns the clusters that a job names or selects, by name. */
export function clustersOf(
  { clusters }: Pick<EdgeJobSpec, 'clusters'>,
  edges: readonly EdgeCluster[],
): string[] {
  if (clusters.names !== undefined) return [...new Set(clusters.names)].toSorted()
  const selector = labelSelectorOf(clusters.labelSelector)
  return edges
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .filter(({ metadata }) => selector.matches(metadata.labels))
    .map(({ metadata }) => metadata.name ?? '')
    .toSorted()
}

/**
 * Returns every step of a job on a cluster in order. First all machines are prepared. Then each is changed and seen to
 * be Ready: masters one by one, then the nodes.
 */
export function jobInstancesOf(
  steps: readonly Step[],
  machines: readonly PlannedMachine[],
): StepInstance[] {
  const known: MachineStatus[] = machines.map(({ address, role }) => ({ address, role }))
  const at = steps.findIndex(({ disrupts }) => disrupts === true)
  const [before, after] = at === -1 ? [steps, []] : [steps.slice(0, at), steps.slice(at)]
  return [
    ...instancesOf(before, machines, known),
    ...machines.flatMap((machine) => instancesOf(after, [machine], known)),
  ]
}

/**
 * Chooses among steps that may begin: those of machines that are being changed go on, others begin as there are
 * places. While it is held, none begins on another machine.
 */
export function chooseSteps(
  ready: readonly StepInstance[],
  {
    instances,
    statuses,
    running,
    machinesAtOnce,
    isHeld,
    hasPlace,
  }: {
    readonly instances: readonly StepInstance[]
    readonly statuses: readonly StepStatus[]
    readonly running: ReadonlySet<string>
    readonly machinesAtOnce: number
    readonly isHeld: boolean
    /** Takes one of the job's places for clusters that are changed at once, unless it has one. */
    readonly hasPlace: () => boolean
  },
): StepInstance[] {
  const statusOf = new Map(statuses.map((status) => [stepText(status), status]))
  const inChange = machinesInChange(instances, statuses)
  for (const { step, machine, text } of instances) {
    if (step.disrupts === true && running.has(text)) inChange.add(machine?.address ?? '')
  }
  const busy = new Set(inChange)
  const chosen: StepInstance[] = []
  for (const instance of ready) {
    const address = instance.machine?.address ?? ''
    if (instance.step.disrupts !== true) {
      // A step that was broken off with its hub is not left as one that runs.
      if (!isHeld || statusOf.get(instance.text)?.state === 'Running') chosen.push(instance)
      continue
    }
    // A machine that has failed is put right, whatever else happens.
    const goesOn = busy.has(address) || instance.step.undoes !== undefined
    if (!goesOn && (isHeld || busy.size >= machinesAtOnce || !hasPlace())) continue
    busy.add(address)
    chosen.push(instance)
  }
  return chosen
}

/** Returns the machines on which the change has begun and has not ended, unless it waits for an absent machine. */
export function machinesInChange(
  instances: readonly StepInstance[],
  statuses: readonly StepStatus[],
): Set<string> {
  const statusOf = new Map(statuses.map((status) => [stepText(status), status]))
  const changes = new Map<string, StepStatus[]>()
  const answers = new Map<string, StepStatus>()
  for (const instance of instances) {
    const { step, machine, text } = instance
    const status = statusOf.get(text)
    if (step.disrupts !== true || machine === undefined || status === undefined) continue
    const { address } = machine
    if (step.undoes === undefined) changes.set(address, [...(changes.get(address) ?? []), status])
    else if (hasFailed(instance, statusOf)) answers.set(address, status)
  }
  return new Set(
    [...changes].flatMap(([address, steps]) => {
      const answer = answers.get(address)
      // Nobody waits for a machine that failed and is away: it is put right when it is back.
      const goesOn =
        answer === undefined ? isHalfDone(steps) : isOpen(answer) && answer.reason === undefined
      return goesOn ? [address] : []
    }),
  )
}

function isHalfDone(steps: readonly StepStatus[]): boolean {
  const isBegun = steps.some(
    ({ state, isBegun: reached }) => state === 'Done' || state === 'Running' || reached === true,
  )
  return isBegun && steps.some(isOpen) && !steps.some(({ state }) => state === 'Failed')
}

function isOpen({ state }: StepStatus): boolean {
  return state === 'Waiting' || state === 'Running'
}
