import { labelSelectorOf } from '@skerry/api'
import type { EdgeCluster } from './edge-cluster.ts'
import type { EdgeJobSpec } from './edge-job.ts'
import { machinesOf, type PlannedMachine } from './machine-addresses.ts'

/** Returns the machines of a cluster that a job is about, its masters first. */
export function targetsOf({ spec }: EdgeCluster, job: EdgeJobSpec): PlannedMachine[] {
  const { role, addresses, labelSelector } = job.machines ?? {}
  const selector = labelSelector === undefined ? undefined : labelSelectorOf(labelSelector)
  // Options of a site concern nothing but masters.
  const isForMasters = job.configure !== undefined && job.configure.node === undefined
  const machines = machinesOf(spec).filter(
    (machine) =>
      // A witness is etcd alone, which no job changes.
      machine.role !== 'Witness' &&
      (role === undefined || machine.role === role) &&
      (addresses === undefined || addresses.includes(machine.address)) &&
      (selector === undefined || selector.matches(machine.block.labels)) &&
      (!isForMasters || machine.role === 'Master'),
  )
  return machines.toSorted((a, b) => Number(b.role === 'Master') - Number(a.role === 'Master'))
}

/** Reports whether every master of a cluster is among them. */
export function targetsMaster(edge: EdgeCluster, job: EdgeJobSpec): boolean {
  const masters = machinesOf(edge.spec).filter(({ role }) => role === 'Master')
  const targets = targetsOf(edge, job)
  return masters.every(({ address }) => targets.some((each) => each.address === address))
}

/** Reports whether a job is about every machine of a cluster that has a role. */
export function coversRole(role: 'site' | 'node', edge: EdgeCluster, job: EdgeJobSpec): boolean {
  if (role === 'site') return targetsMaster(edge, job)
  const targets = new Set(targetsOf(edge, job).map(({ address }) => address))
  return machinesOf(edge.spec).every(
    (machine) => machine.role === 'Witness' || targets.has(machine.address),
  )
}
