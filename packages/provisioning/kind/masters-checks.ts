import { isIPv4 } from 'node:net'
import {
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type StatusCause,
} from '@skerry/api'
import { edgeClusterBounds } from '../limits-table.ts'
import { jumpsOf } from './edge-cluster-ways.ts'
import { rangeAround, whyNoHost } from './network-checks.ts'
import type { EdgeClusterSpec, HighAvailability, MachineRole } from './edge-cluster.ts'
import { machinesOf } from './machine-addresses.ts'
import { whyNoMachine } from './unfit-addresses.ts'

const { heartbeatMsMin, heartbeatMsMax, mastersMax } = edgeClusterBounds

/** Returns true if the site's masters run an etcd, which alone can have several. */
export function isOnEtcd({ store }: Partial<EdgeClusterSpec>): boolean {
  return store?.type === 'Etcd'
}

/** Returns everything that is wrong with the number of masters, their store, and the address before them. */
export function mastersCauses(spec: Partial<EdgeClusterSpec>): StatusCause[] {
  return [...storeCauses(spec), ...numberCauses(spec), ...availabilityCauses(spec)]
}

function storeCauses({ store = {} }: Partial<EdgeClusterSpec>): StatusCause[] {
  const causes: StatusCause[] = []
  const { type = 'SQLite', heartbeatMilliseconds: heartbeat } = store
  if (!['SQLite', 'Etcd'].includes(type)) {
    causes.push(fieldNotSupported('spec.store.type', type, ['SQLite', 'Etcd']))
  }
  if (heartbeat === undefined) return causes
  const field = 'spec.store.heartbeatMilliseconds'
  if (type !== 'Etcd') causes.push(fieldForbidden(field, 'belongs to spec.store.type Etcd'))
  if (!(heartbeat >= heartbeatMsMin && heartbeat <= heartbeatMsMax)) {
    const why = `must be from ${heartbeatMsMin} to ${heartbeatMsMax}: about the round trip between the masters`
    causes.push(fieldInvalid(field, heartbeat, why))
  }
  return causes
}

/** Only a majority of etcd's members decides: two of two and three of four are worse than one of one. */
function numberCauses(spec: Partial<EdgeClusterSpec>): StatusCause[] {
  const field = 'spec.machines'
  const masters = numberOfRole(spec, 'Master')
  const witnesses = numberOfRole(spec, 'Witness')
  if (masters === 0) return [fieldRequired(field, 'one machine must have the role Master')]
  if (!isOnEtcd(spec)) {
    if (masters + witnesses === 1) return []
    const why =
      'several masters, and a witness, need an etcd: set spec.store.type to Etcd, or name one machine of role Master'
    return [fieldForbidden(field, why)]
  }
  if (masters > mastersMax) {
    return [fieldInvalid(field, `${masters} masters`, `must be at most ${mastersMax} masters`)]
  }
  if (masters === 2 && witnesses === 1) return []
  if (masters === 2) {
    const why =
      witnesses === 0
        ? 'two masters survive less than one: add a third, or a machine of role Witness'
        : 'two masters need one machine of role Witness, not several'
    return [fieldInvalid(field, '2 masters', why)]
  }
  if (witnesses === 0) return []
  const why = `a machine of role Witness votes for two masters, and there ${masters === 1 ? 'is 1' : `are ${masters}`}`
  return [fieldForbidden(field, why)]
}

function numberOfRole(spec: Partial<EdgeClusterSpec>, wanted: MachineRole): number {
  return machinesOf(spec).filter(({ role }) => role === wanted).length
}

const availabilityTypes = ['None', 'VirtualIP', 'Balancer']

function availabilityCauses(spec: Partial<EdgeClusterSpec>): StatusCause[] {
  const { highAvailability = {} } = spec
  const { type = 'None', address, port, virtualRouterId } = highAvailability
  const at = (name: string): string => `spec.highAvailability.${name}`
  if (!availabilityTypes.includes(type)) {
    return [fieldNotSupported(at('type'), type, availabilityTypes)]
  }
  const causes: StatusCause[] = []
  if (type === 'None' && address !== undefined) {
    causes.push(fieldForbidden(at('address'), 'belongs to the types VirtualIP and Balancer'))
  }
  if (type !== 'None' && (address ?? '') === '') causes.push(fieldRequired(at('address')))
  if (port !== undefined) {
    if (type !== 'Balancer') causes.push(fieldForbidden(at('port'), 'belongs to the type Balancer'))
    if (!(port >= 1 && port <= 65_535)) {
      causes.push(fieldInvalid(at('port'), port, 'must be from 1 to 65535'))
    }
  }
  if (virtualRouterId !== undefined) {
    const field = at('virtualRouterId')
    if (type !== 'VirtualIP') causes.push(fieldForbidden(field, 'belongs to the type VirtualIP'))
    if (!(virtualRouterId >= 1 && virtualRouterId <= 255)) {
      causes.push(fieldInvalid(field, virtualRouterId, 'must be from 1 to 255'))
    }
  }
  if (type === 'None' || !address) return causes
  return [...causes, ...addressCauses(spec, { ...highAvailability, address })]
}

function addressCauses(
  spec: Partial<EdgeClusterSpec>,
  { type, address }: HighAvailability & { readonly address: string },
): StatusCause[] {
  const field = 'spec.highAvailability.address'
  const wrong = (why: string): StatusCause => fieldInvalid(field, address, why)
  if (type === 'Balancer' && !isIPv4(address)) {
    return whyNoHost(address).map(wrong)
  }
  if (!isIPv4(address)) return [wrong('must be an IPv4 address that no machine has')]
  const odd = whyNoMachine(address)
  if (odd !== undefined) return [wrong(odd)]
  const causes: StatusCause[] = []
  const range = rangeAround(spec, address)
  if (range !== undefined) causes.push(wrong(`must not be in ${range}`))
  if (type !== 'VirtualIP') return causes
  if (jumpsOf(spec).some((jump) => jump.address === address)) {
    causes.push(wrong('is the address of a jump host: a virtual IP is unused before'))
  }
  if (spec.hubServer !== undefined && URL.canParse(spec.hubServer)) {
    const isHubs = new URL(spec.hubServer).hostname === address
    if (isHubs) causes.push(wrong('is the address of the hub: a virtual IP is unused before'))
  }
  if (machinesOf(spec).some((machine) => machine.address === address)) {
    causes.push(wrong('is the address of a machine: a virtual IP moves between them'))
  }
  if (numberOfRole(spec, 'Master') < 2) {
    const why = 'VirtualIP needs several masters between which it moves: use None for one'
    causes.push(fieldForbidden('spec.highAvailability.type', why))
  }
  return causes
}

/** Returns what may not change on the masters of a cluster that was made. */
export function mastersFixedCauses(next: EdgeClusterSpec, old: EdgeClusterSpec): StatusCause[] {
  const causes: StatusCause[] = []
  if (isOnEtcd(old) && !isOnEtcd(next)) {
    const why =
      'may not be changed from Etcd to SQLite: remove all masters but one, and keep its etcd, which needs no other'
    causes.push(fieldForbidden('spec.store.type', why))
  }
  const { heartbeatMsDefault } = edgeClusterBounds
  const heartbeat = ({ store }: EdgeClusterSpec): number =>
    store?.heartbeatMilliseconds ?? heartbeatMsDefault
  if (isOnEtcd(old) && heartbeat(next) !== heartbeat(old)) {
    causes.push(fieldForbidden('spec.store.heartbeatMilliseconds', 'may not be changed'))
  }
  const roleOf = new Map(machinesOf(old).map(({ address, role }) => [address, role]))
  for (const { address, role } of machinesOf(next)) {
    const before = roleOf.get(address)
    // The last master has an error of its own.
    if (before === undefined || before === role) continue
    const why = `${address} is a ${before} and may not become a ${role}: remove the machine first, and add it again when it has left`
    causes.push(fieldForbidden('spec.machines', why))
  }
  return causes
}
