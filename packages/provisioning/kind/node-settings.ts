import { createHash } from 'node:crypto'
import { edgeClusterBounds } from '../limits-table.ts'
import type { EdgeCluster, EdgeClusterSpec, MachineStatus, MachineTaint } from './edge-cluster.ts'
import type { PlannedMachine } from './machine-addresses.ts'
import { registrationTaints } from './taint-checks.ts'

/** The labels and taints that a node gets from its EdgeCluster. */
export interface NodeSettings {
  labels?: Record<string, string>
  taints?: MachineTaint[]
}

/** Settings that at least one node has or may have. Many machines share one. */
export interface GivenSettings extends NodeSettings {
  digest: string
}

/** Returns the settings that a machine's block names. */
export function settingsOf(
  spec: EdgeClusterSpec,
  { role, block }: Pick<PlannedMachine, 'role' | 'block'>,
): GivenSettings {
  const labels = Object.fromEntries(
    Object.entries(block.labels ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )
  const taints = [...registrationTaints(spec, { ...block, role })]
  const text = JSON.stringify([
    labels,
    taints.map(({ key, value = '', effect }) => `${key}=${value}:${effect}`).toSorted(),
  ])
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 12)
  return { digest, labels, taints }
}

/**
 * Returns the digests of the settings that a node may have: those that it was given last, and then those of attempts to
 * give it others, of which the last is wanted. A hub that is killed in the middle takes all of them back but that.
 */
export function givenTo(
  { given = [], isChanged }: Pick<MachineStatus, 'given' | 'isChanged'>,
  wanted: string,
): string[] {
  if (isChanged !== true) return [wanted]
  const [first, ...others] = [...given.filter((digest) => digest !== wanted), wanted]
  // A machine that was away through many changes has hardly any of those in the middle.
  const last = others.slice(1 - edgeClusterBounds.settingsMax)
  return first === undefined ? [wanted] : [first, ...last]
}

/** Returns the settings that the status has to keep: those of which a change would take something back. */
export function settingsToKeep(
  { spec, status }: EdgeCluster,
  machines: readonly MachineStatus[],
  planned: readonly PlannedMachine[],
): GivenSettings[] {
  const used = new Set(machines.flatMap(({ given = [] }) => given))
  const all = [
    ...(status?.nodeSettings ?? []),
    ...planned.map((machine) => settingsOf(spec, machine)),
  ]
  const byDigest = new Map(all.map((each) => [each.digest, each]))
  return [...byDigest.values()].filter(
    ({ digest, labels = {}, taints = [] }) =>
      used.has(digest) && Object.keys(labels).length + taints.length > 0,
  )
}

/** Returns true if a node has other labels or taints of the object than its block names now. */
export function hasOtherSettings({ given = [] }: Pick<MachineStatus, 'given'>): boolean {
  return given.length > 1
}
