import type { HighAvailability, MachineStatus, SitePlace } from './edge-cluster.ts'
import type { PlannedMachine } from './machine-addresses.ts'

/** The port of a site's API unless a line names another one. */
export const apiPortDefault = 6_443

/** Returns the masters with a site: the one that has begun it, and those that have joined it. */
export function madeMasters(
  machines: readonly PlannedMachine[],
  known: readonly Pick<MachineStatus, 'address' | 'site' | 'member'>[],
): PlannedMachine[] {
  const statusOf = new Map(known.map((status) => [status.address, status]))
  return machines.filter(({ address, role }) => {
    const { site = 'Founds', member } = statusOf.get(address) ?? {}
    return role === 'Master' && (site === 'Founds' || (site === 'Joins' && member !== undefined))
  })
}

/**
 * Returns the part of a machine in the site. The first master of a cluster begins it; all that are named later join, so
 * that a change of the list never begins a second one. Nodes have none.
 */
export function sitePlaceOf(
  { address, role }: Pick<PlannedMachine, 'address' | 'role'>,
  planned: readonly PlannedMachine[],
  known: readonly MachineStatus[],
): { readonly site?: SitePlace } {
  if (role === 'Node') return {}
  if (role === 'Witness') return { site: 'Joins' }
  const statusOf = new Map(known.map((status) => [status.address, status]))
  const own = statusOf.get(address)?.site
  if (own !== undefined) return { site: own }
  if (known.some(({ site }) => site !== undefined)) return { site: 'Joins' }
  const masters = planned.filter((each) => each.role === 'Master')
  // The status of a cluster of before has its master and no part in it.
  const first = masters.find((each) => statusOf.get(each.address)?.isChanged === true) ?? masters[0]
  return { site: first?.address === address ? 'Founds' : 'Joins' }
}

interface Front {
  readonly address: string
  /** address:port */
  readonly endpoint: string
  /** https://address:port */
  readonly server: string
}

/** Returns the address before the masters, as clients from outside dial it; undefined if there is none. */
export function frontOf({
  highAvailability,
}: {
  readonly highAvailability?: HighAvailability
}): Front | undefined {
  const { type = 'None', address, port = apiPortDefault } = highAvailability ?? {}
  if (type === 'None' || address === undefined) return undefined
  const endpoint = `${address}:${type === 'VirtualIP' ? apiPortDefault : port}`
  return { address, endpoint, server: `https://${endpoint}` }
}
