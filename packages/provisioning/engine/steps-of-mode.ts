import type { Step } from '../contract/step.ts'
import {
  clusterNameOfEdge,
  type EdgeCluster,
  type EdgeClusterStatus,
  type MachineStatus,
  type StepStatus,
} from '../kind/edge-cluster.ts'
import type { StepPlan } from '../kind/edge-options.ts'
import { sitePlaceOf } from '../kind/made-masters.ts'
import { machinesOf, type PlannedMachine } from '../kind/machine-addresses.ts'
import { settingsToKeep } from '../kind/node-settings.ts'
import { figuresOf } from '../kind/network-size.ts'
import { instancesOf, isFinished } from './plan-steps.ts'

/** Returns true while the object asks for a check alone. A deletion takes away whatever there is. */
export function isMereCheck({ metadata, spec }: EdgeCluster): boolean {
  return spec.mode === 'Check' && metadata.deletionTimestamp === undefined
}

/** Returns the steps that the object's mode permits: a check does those that only read. */
export function stepsOfMode(steps: readonly Step[], edge: EdgeCluster): readonly Step[] {
  return isMereCheck(edge) ? steps.filter(({ onlyReads }) => onlyReads === true) : steps
}

/** Returns the steps that count. The results of a check may be old, so a cluster that is made does them again. */
export function knownSteps(edge: EdgeCluster): readonly StepStatus[] {
  const wasCheck = edge.status?.mode === 'Check'
  return wasCheck && !isMereCheck(edge) ? [] : (edge.status?.steps ?? [])
}

/** Reports whether every step by which the EdgeCluster makes this machine is finished. */
export function hasAllDone(
  edge: EdgeCluster,
  { address }: Pick<PlannedMachine, 'address'>,
): boolean {
  // A mere check has looked at machines, and made nothing of them.
  if (isMereCheck(edge)) return false
  const own = knownSteps(edge).filter(({ machine }) => machine === address)
  return own.length > 0 && own.every(isFinished)
}

/** Returns the part of the status that follows from the object alone. */
export function statusBaseOf(
  edge: EdgeCluster,
  steps: readonly Step[],
  machines: readonly MachineStatus[],
): Omit<EdgeClusterStatus, 'phase' | 'steps' | 'machines' | 'conditions'> {
  const isCheck = isMereCheck(edge)
  return {
    observedGeneration: edge.metadata.generation ?? 0,
    clusterName: clusterNameOfEdge(edge),
    ...figuresOf(edge),
    nodeSettings: settingsToKeep(edge, machines, machinesOf(edge.spec)),
    mode: isCheck ? 'Check' : 'Make',
    ...(isCheck ? { plan: planOf(edge, steps) } : {}),
  }
}

const places = {
  hub: 'Hub',
  master: 'Master',
  'any-master': 'Master',
  'master-for-each': 'Master',
  machines: 'Machines',
} as const

function planOf(edge: EdgeCluster, steps: readonly Step[]): StepPlan[] {
  const applying = steps.filter(({ applies }) => applies?.(edge) !== false)
  const machines = machinesOf(edge.spec)
  const seen = edge.status?.machines ?? []
  const known = machines.map(({ address, role }) => ({
    address,
    role,
    ...sitePlaceOf({ address, role }, machines, seen),
  }))
  const done = new Set(instancesOf(applying, machines, known).map(({ step }) => step.name))
  return applying
    .filter(({ name, undoes }) => undoes === undefined && done.has(name))
    .map(({ name, does, place }) => ({ name, does, where: places[place] }))
}
