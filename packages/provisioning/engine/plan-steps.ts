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
import { provisioningBounds } from '../limits-table.ts'
import type { Step, StepPlace } from '../contract/step.ts'

/** One step on one machine, or once for the cluster. */
export interface StepInstance {
  readonly step: Step
  /** Undefined for a step of the hub. */
  readonly machine: PlannedMachine | undefined
  /** Whether all other machines wait for it: the cluster has nothing before its first master. */
  readonly leads: boolean
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
    const masters = machines.filter(({ role }) => role === 'Master')
    const founders = masters.filter(({ address }) => isFounder(statusOf.get(address)))
    if (place === 'master') return founders
    if (place === 'any-master') return [...founders, ...masters].slice(0, 1)
    return machines
  }
  const applies = (step: Step, machine: PlannedMachine | undefined): boolean => {
    const status = machine && statusOf.get(machine.address)
    if (machine === undefined || status === undefined) return true
    return step.appliesTo?.(status, machine) !== false
  }
  const all = steps.flatMap((step) => {
    const asked = of(step.place).filter((machine) => applies(step, machine))
    const isLast = (machine: PlannedMachine | undefined): number =>
      Number(step.endsSite === true && !isBehindSite(machine))
    const ordered = asked.toSorted((one, other) => isLast(one) - isLast(other))
    return ordered.map((machine) => {
      const text = stepText({
        name: step.name,
        ...(machine === undefined ? {} : { machine: machine.address }),
      })
      const leads = machine === undefined || leadsOthers(machine, statusOf.get(machine.address))
      return { step, machine, leads, text }
    })
  })
  return openedLate(all)
}

/** Clusters of before have one master, of which nothing is known. */
function isFounder(status: MachineStatus | undefined): boolean {
  return status?.site === undefined || status.site === 'Founds'
}

/** A member of an etcd is not alone: others serve while it is worked on. */
function leadsOthers({ role }: PlannedMachine, status: MachineStatus | undefined): boolean {
  return role === 'Master' && isFounder(status) && status?.member === undefined
}

/** Only the cluster's own site reaches it. */
function isBehindSite(machine: PlannedMachine | undefined): boolean {
  return machine?.block.via === 'Site'
}

/** Moves the steps of machines behind the site to after those that make it and let it dial them. */
function openedLate(instances: readonly StepInstance[]): StepInstance[] {
  const isOfMaster = ({ step }: StepInstance): boolean =>
    step.place === 'master' || step.place === 'master-for-each'
  // Where no step makes the site, it is there, and may dial them.
  if (!instances.some(({ step }) => step.place === 'master')) return [...instances]
  const at = instances.findLastIndex(isOfMaster) + 1
  const isLate = (each: StepInstance): boolean => isBehindSite(each.machine) && !isOfMaster(each)
  const before = instances.slice(0, at)
  return [
    ...before.filter((each) => !isLate(each)),
    ...before.filter(isLate),
    ...instances.slice(at),
  ]
}

/** The facts by which a finished step is done again. */
interface Present {
  /** The present digest of the fields that a step carries out, by its name. */
  readonly inputs?: ReadonlyMap<string, string>
  readonly machines?: readonly MachineStatus[]
}

/** Returns the known status of each instance, or that it waits. Steps that are not planned any more are left out. */
export function statusesOf(
  instances: readonly StepInstance[],
  known: readonly StepStatus[],
  { skipSteps = [] }: Pick<EdgeClusterSpec, 'skipSteps'>,
  { inputs = new Map(), machines = [] }: Present = {},
): StepStatus[] {
  const byText = new Map(known.map((status) => [stepText(status), status]))
  const made = new Set(machines.flatMap(({ address, isMade }) => (isMade === true ? address : [])))
  return instances.map(({ step, machine, text }) => {
    const input = inputs.get(step.name)
    const kept = input === undefined ? {} : { input }
    const before = byText.get(text)
    // Its digest is not known if a hub did it that did not repeat this step: nothing has changed for it.
    const isKnown = before !== undefined && (before.input === undefined || before.input === input)
    const fresh = (): StepStatus => ({
      name: step.name,
      ...(machine === undefined ? {} : { machine: machine.address }),
      ...(step.onlyMakes === true && made.has(machine?.address ?? '') ? passedOver : waiting),
      ...kept,
    })
    const status = isKnown ? { ...before, ...kept } : fresh()
    const isSkipped = skipSteps.includes(step.name) || skipSteps.includes(text)
    if (!isSkipped || !isSkippable(step) || status.state === 'Done') return status
    return { ...status, state: 'Skipped', message: 'spec.skipSteps names it' }
  })
}

const waiting: Pick<StepStatus, 'state'> = { state: 'Waiting' }

const passedOver: Pick<StepStatus, 'state' | 'message'> = {
  state: 'Skipped',
  message:
    'the machine was made before this was in the object; retry the step by its name to do it',
}

/** Steps of the hub itself give and take names and rights: the author of an EdgeCluster may skip only a few of them. */
export function isSkippable({ place, maySkip = false }: Pick<Step, 'place' | 'maySkip'>): boolean {
  return place !== 'hub' || maySkip
}

/** Returns the digests of the fields that steps carry out, by the names of the steps. */
export function inputsOf(
  steps: readonly Step[],
  edge: EdgeCluster,
  machines: readonly PlannedMachine[],
): Map<string, string> {
  return new Map(
    steps.flatMap(({ name, input }) => {
      if (input === undefined) return []
      const text = JSON.stringify(input(edge, machines) ?? null)
      return [[name, createHash('sha256').update(text).digest('hex').slice(0, 12)] as const]
    }),
  )
}

/**
 * Returns the instances that may begin now. An instance may begin when everything before it on its machine is
 * finished, and everything before it on the master and the hub: nodes need a master, and do not wait for each other.
 * The steps of the hub at the end wait for nothing but the master; what ends the site waits for the machines behind it.
 * Masters that join others hold up only the hub, and take turns where a step says so. A step that only reads waits for
 * nothing on another machine. `isWoken` lets a step begin before its time.
 */
export function readySteps(
  instances: readonly StepInstance[],
  statuses: readonly StepStatus[],
  nowMs: number,
  isWoken: (status: StepStatus) => boolean = () => false,
): StepInstance[] {
  const stateOf = new Map(statuses.map((status) => [stepText(status), status]))
  const blocked = {
    all: false,
    reading: false,
    site: false,
    hub: false,
    turn: false,
    machines: new Set<string>(),
    failed: new Set<string>(),
  }
  const ready: StepInstance[] = []
  for (const instance of instances) {
    const { step, machine, text } = instance
    const status = stateOf.get(text)
    if (status === undefined || isFinished(status)) continue
    const isDue = isDueAt(status, nowMs) || isWoken(status)
    const canRun = (status.state === 'Waiting' || status.state === 'Running') && isDue
    if (step.undoes !== undefined) {
      // Its machine is blocked by the failure that it answers; otherwise there is nothing to do, and it blocks nothing.
      if (canRun && hasFailed(instance, stateOf)) ready.push(instance)
      continue
    }
    const isOfAll = instance.leads
    const isHeld = step.onlyReads === true ? blocked.reading : blocked.all
    const isBlocked =
      isHeld ||
      (isOfAll && step.endsSite === true && blocked.site) ||
      (step.inTurn === true && blocked.turn) ||
      (machine === undefined && blocked.hub) ||
      (machine !== undefined && blocked.machines.has(machine.address))
    if (!isBlocked && canRun) ready.push(instance)
    if (isOfAll) blocked.all = true
    if (machine?.role === 'Master') blocked.hub = true
    // One that has failed is for a person, and holds up nobody else.
    if (status.state === 'Failed') blocked.failed.add(machine?.address ?? '')
    if (step.inTurn === true && !blocked.failed.has(machine?.address ?? '')) blocked.turn = true
    // Others that are not for each machine hold up readers, too: they come between them.
    const isForEach = step.place === 'machines' || step.place === 'master-for-each'
    if (!isForEach && isOfAll && step.onlyReads !== true) blocked.reading = true
    if (machine !== undefined) blocked.machines.add(machine.address)
    if (isBehindSite(machine)) blocked.site = true
  }
  return ready
}

/** Reports whether a step has waited enough. No wait is as long as the hub's clock may have been wrong. */
function isDueAt({ nextTime }: StepStatus, nowMs: number): boolean {
  if (nextTime === undefined) return true
  const leftMs = Date.parse(nextTime) - nowMs
  return !(leftMs > 0 && leftMs <= provisioningBounds.engine.nextMsMax)
}

/** Reports whether a step that this one answers has failed on its machine. */
export function hasFailed(
  { step, machine }: StepInstance,
  statusOf: ReadonlyMap<string, StepStatus>,
): boolean {
  if (machine === undefined) return false
  return (step.undoes ?? []).some((name) => {
    const text = stepText({ name, machine: machine.address })
    return statusOf.get(text)?.state === 'Failed'
  })
}

/** True: the step waits for something outside, such as a person, and only looks again. */
export function isLook({ state, attempt, nextTime }: StepStatus): boolean {
  return state === 'Waiting' && nextTime !== undefined && attempt === 0
}

/** Returns the time of the next attempt that is planned, in milliseconds; undefined if none is. */
export function nextAttemptMs(statuses: readonly StepStatus[]): number | undefined {
  const times = statuses.flatMap(({ state, nextTime }) =>
    state === 'Waiting' && nextTime !== undefined ? [Date.parse(nextTime)] : [],
  )
  return times.length === 0 ? undefined : Math.min(...times)
}
