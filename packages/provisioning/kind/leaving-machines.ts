import { fieldForbidden, type StatusCause } from '@skerry/api'
import type { EdgeClusterSpec, MachineLogin, MachineStatus } from './edge-cluster.ts'
import { machinesOf, type PlannedMachine } from './machine-addresses.ts'

/**
 * Returns the machines that steps have changed and the spec does not name any more, with the login that it had for
 * them. Only the host key that was kept counts for these.
 */
export function leavingMachines(
  planned: readonly PlannedMachine[],
  known: readonly MachineStatus[],
): PlannedMachine[] {
  const staying = new Set(planned.map(({ address }) => address))
  return known.flatMap(({ address, role, isChanged, login }) => {
    if (isChanged !== true || staying.has(address)) return []
    const { user = 'root', port = 22, credentials = '', ...way } = login ?? {}
    const block = {
      addresses: [address],
      credentials: { name: credentials },
      role,
      user,
      port,
      ...way,
    }
    return [{ address, role, user, port, block }]
  })
}

/** Returns the login of a machine as its status keeps it. */
export function loginToKeep({ user, port, block }: PlannedMachine): MachineLogin {
  const { jump, via, viaCluster } = block
  return {
    user,
    port,
    credentials: block.credentials.name,
    ...(jump === undefined ? {} : { jump }),
    ...(via === undefined ? {} : { via }),
    ...(viaCluster === undefined ? {} : { viaCluster }),
  }
}

/** Returns the reason for which a change of the machines would end the cluster: no control plane would be left. */
export function lastMasterCauses(next: EdgeClusterSpec, old: EdgeClusterSpec): StatusCause[] {
  const staying = new Set(mastersOf(next))
  const masters = mastersOf(old)
  if (masters.length === 0 || masters.some((address) => staying.has(address))) return []
  const why = `the last master, ${masters.join(', ')}, may not be removed or become a node: delete the cluster instead`
  return [fieldForbidden('spec.machines', why)]
}

function mastersOf(spec: EdgeClusterSpec): string[] {
  return machinesOf(spec).flatMap(({ address, role }) => (role === 'Master' ? [address] : []))
}
