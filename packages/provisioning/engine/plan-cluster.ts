import {
  type EdgeCluster,
  type MachineStatus,
  edgeClusterAsks,
  stepText,
} from '../kind/edge-cluster.ts'
import { leavingMachines, loginToKeep } from '../kind/leaving-machines.ts'
import { sitePlaceOf } from '../kind/made-masters.ts'
import { givenTo, settingsOf } from '../kind/node-settings.ts'
import type { PlannedMachine } from '../kind/machine-addresses.ts'
import type { Step } from '../contract/step.ts'
import {
  inputsOf,
  instancesOf,
  isFinished,
  isLook,
  readySteps,
  type StepInstance,
} from './plan-steps.ts'
import { hasAllDone, stepsOfMode } from './steps-of-mode.ts'
import type { StatusBook } from './status-book.ts'

/** The tables of steps; the engine knows none of these. */
export interface StepTables {
  /** The steps that make a cluster. */
  readonly steps: readonly Step[]
  /** Those by which a machine leaves it that the spec does not name any more. */
  readonly departure: readonly Step[]
  /** Those that take the cluster away. */
  readonly removal: readonly Step[]
}

export interface ClusterPlan {
  readonly instances: readonly StepInstance[]
  /** The digests of the fields that steps carry out, by the names of the steps. */
  readonly inputs: ReadonlyMap<string, string>
  readonly machines: readonly MachineStatus[]
  readonly leaving: readonly PlannedMachine[]
}

/**
 * Decides which steps a cluster needs. Machines leave before others join: a new machine may have the name of an old
 * one. If a removal does something on machines, it does so on those that leave as well; if it leaves machines as they
 * are, those that leave end their departure.
 */
export function planCluster(
  edge: EdgeCluster,
  planned: readonly PlannedMachine[],
  tables: StepTables,
): ClusterPlan {
  const known = edge.status?.machines ?? []
  const leaving = leavingMachines(planned, known)
  const machines = machineStatuses(edge, { planned, leaving, known })
  const applying = (table: readonly Step[]): Step[] =>
    table.filter(({ applies }) => applies?.(edge) !== false)
  const isRemoval = edge.metadata.deletionTimestamp !== undefined
  const main = applying(isRemoval ? tables.removal : stepsOfMode(tables.steps, edge))
  const inputs = inputsOf(main, edge, planned)
  const facts = { inputs, machines, leaving }
  if (isRemoval && main.some(({ place }) => place === 'machines')) {
    return { ...facts, instances: instancesOf(main, [...planned, ...leaving], machines) }
  }
  const departures = instancesOf(applying(tables.departure), leaving, machines)
  return { ...facts, instances: [...departures, ...instancesOf(main, planned, machines)] }
}

/** Returns the addresses of which a person says that their machine will never answer again. */
function deadOf({ metadata }: EdgeCluster): ReadonlySet<string> {
  const text = metadata.annotations?.[edgeClusterAsks.dead] ?? ''
  return new Set(text.split(',').map((address) => address.trim()))
}

/** Only a machine that leaves can be dead. One that is named again has a second life, and is made again. */
function machineStatuses(
  edge: EdgeCluster,
  {
    planned,
    leaving,
    known,
  }: {
    readonly planned: readonly PlannedMachine[]
    readonly leaving: readonly PlannedMachine[]
    readonly known: readonly MachineStatus[]
  },
): MachineStatus[] {
  const dead = deadOf(edge)
  const statusOf = new Map(known.map((status) => [status.address, status]))
  const staying = planned.map((machine) => {
    const { address, role } = machine
    const { isDead: _, ...rest } = statusOf.get(address) ?? { address, role }
    const place = sitePlaceOf(machine, planned, known)
    const made = rest.isMade === true || hasAllDone(edge, machine) ? { isMade: true } : {}
    const own = { ...rest, ...made, address, role, ...place, login: loginToKeep(machine) }
    if (role === 'Witness') return own
    return { ...own, given: givenTo(own, settingsOf(edge.spec, machine).digest) }
  })
  const going = leaving.flatMap(({ address }) => {
    const status = statusOf.get(address)
    if (status === undefined) return []
    const { isMade: _, ...rest } = status
    return [{ ...rest, ...(dead.has(address) ? { isDead: true } : {}) }]
  })
  return [...staying, ...going]
}

/**
 * Reports whether a step begins now that does more than look again. A step that failed does not hold up those of other
 * machines: the phase tells of it when all of these have ended.
 */
export function isBusy(
  instances: readonly StepInstance[],
  { steps }: Pick<StatusBook, 'steps'>,
  nowMs: number,
): boolean {
  const looks = new Set(steps.filter(isLook).map(stepText))
  return readySteps(instances, steps, nowMs).some(({ text }) => !looks.has(text))
}

/** Returns the addresses of machines that have left: each of their steps is finished, and none is left to do. */
export function departed(
  leaving: readonly PlannedMachine[],
  { steps }: Pick<StatusBook, 'steps'>,
): ReadonlySet<string> {
  const busy = new Set(steps.flatMap((step) => (isFinished(step) ? [] : (step.machine ?? []))))
  return new Set(leaving.flatMap(({ address }) => (busy.has(address) ? [] : [address])))
}
