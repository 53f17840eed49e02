import { insufficient, type UnitFault } from '@skerry/edge-apps'
import type { UnitHold } from './unit-fence.ts'
import type { UnitStatement } from './unit-order.ts'

export interface Staff {
  /** The node that speaks for the unit. */
  readonly server: string
  readonly masters: readonly string[]
  /** Why there are fewer than were asked for. */
  readonly fault?: UnitFault
}

/**
 * Chooses the nodes that run the control plane of a unit that is away; with 0 servers, they stay. `heard` returns the lately heard
 * statement of a node. Two servers are less reliable than one, so that there are either enough or one.
 */
export function planStaff(
  hold: Pick<UnitHold, 'server' | 'masters' | 'nodes'>,
  servers: number,
  heard: (node: string) => UnitStatement | undefined,
): Staff {
  const masters = mastersIn(hold)
  const server = speakerOf(hold, heard)
  if (servers === 0) return { server, masters }
  if (servers === 1) return { server, masters: [server] }
  if (masters.length === servers) return { server, masters }
  const free = hold.nodes.filter((node) => node !== server && heard(node) !== undefined)
  const chosen = [server, ...free.toSorted()].slice(0, servers)
  if (chosen.length === servers) return { server, masters: chosen }
  const ready = free.length + (heard(server) === undefined ? 0 : 1)
  const fault = insufficient({ ready, all: hold.nodes.length, servers })
  return { server, masters: [server], fault }
}

/** Returns the nodes that shall run the unit's control plane. */
export function mastersIn({ masters, server }: Pick<UnitHold, 'masters' | 'server'>) {
  return masters ?? [server]
}

/** Another master speaks for the unit while the one that did is silent. etcd lets only one of them seal. */
function speakerOf(
  hold: Pick<UnitHold, 'server' | 'masters'>,
  heard: (node: string) => UnitStatement | undefined,
): string {
  const { server } = hold
  if (heard(server) !== undefined) return server
  const heir = mastersIn(hold).find((node) => {
    const { serves, members = [] } = heard(node) ?? {}
    return serves !== undefined && members.includes(node)
  })
  return heir ?? server
}
