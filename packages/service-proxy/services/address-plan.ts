import { BlockList, isIPv4, isIPv6 } from 'node:net'
import { userOf, type MachinePorts } from './machine-ports.ts'
import type { Backend, ServicePortBackends } from './service-ports.ts'

/** Addresses that have an owner, so that no service may take them. */
export interface AddressOwners {
  /** The range of all pods of the cluster, e.g. 10.42.0.0/16. */
  readonly clusterCidr: string
  /**
   * The range of all services of the cluster. An external address within it would later belong to a
   * service.
   */
  readonly serviceCidr: string
  /** Addresses that this node answers itself (the cluster DNS). */
  readonly ownAddresses: readonly string[]
  readonly nodeAddresses: readonly string[]
  /** The addresses of the API server, and of the name servers that the machine uses. */
  readonly reservedAddresses: readonly string[]
  /** This machine. Undefined until it has been read; it then serves none of its own addresses. */
  readonly machine?: MachinePorts | undefined
}

export interface RefusedAddress {
  /** The namespace/name of the service. */
  readonly service: string
  /** An address, or `node port 30080/tcp`. */
  readonly address: string
  readonly reason: string
}

/** A port with only those addresses that it may take. */
export interface PlannedPort extends ServicePortBackends {
  /** External addresses that are served while no machine of the cluster has them. */
  readonly externalIps: readonly string[]
  /** External addresses that are served while this machine has them. */
  readonly machineIps: readonly string[]
}

/** Assigns each address to the port that receives its traffic. */
export interface AddressPlan {
  readonly ports: readonly PlannedPort[]
  /** Each service and address once. */
  readonly refused: readonly RefusedAddress[]
}

/**
 * Gives every address to its owner. A service's cluster address takes precedence over external addresses of others. If
 * services want the same address and port, the oldest gets it. External addresses never take what belongs to pods and
 * services, nor what is sent to another machine: an address of a machine is served on that machine alone, at ports that
 * nobody there uses. Stricter than kube-proxy, which serves whatever a Service names. A pure function.
 */
export function planAddresses(
  ports: readonly ServicePortBackends[],
  owners: AddressOwners,
): AddressPlan {
  const oldestFirst = byAge(ports)
  const judge = createJudge(oldestFirst, owners)
  const refused = new Map<string, RefusedAddress>()
  const accept = (service: string, address: string, reason: string | undefined): boolean => {
    if (reason !== undefined) refused.set(`${service} ${address}`, { service, address, reason })
    return reason === undefined
  }
  const planned = oldestFirst.map((port): PlannedPort => {
    const { service } = port
    const externals = port.externalIps
      .filter((address) => !isIPv6(address))
      .filter((address) => accept(service, address, judge.externalAddress(address, port)))
    const isHere = (address: string): boolean => owners.machine?.addresses.has(address) === true
    return {
      ...port,
      clusterIps: port.clusterIps
        .filter((address) => !isIPv6(address))
        .filter((address) => accept(service, address, judge.clusterAddress(address, port))),
      externalIps: externals
        .filter((address) => isHere(address) || accept(service, address, judge.reserved(address)))
        .filter((address) => !judge.isOfMachine(address)),
      machineIps: externals.filter((address) => {
        const reason = judge.machinePort(address, port)
        // The ports of an address that this machine lacks are another one's business.
        return isHere(address) ? accept(service, address, reason) : reason === undefined
      }),
      nodePort: accept(service, nodePortText(port), judge.nodePort(port))
        ? port.nodePort
        : undefined,
      internal: port.internal.filter(isEndpoint),
      external: port.external.filter(isEndpoint),
      everywhere: port.everywhere.filter(isEndpoint),
    }
  })
  return {
    ports: planned.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    refused: [...refused.values()],
  }
}

/** Writes each key once: a comparison that wrote both would take most of the time of a plan. */
function byAge(ports: readonly ServicePortBackends[]): ServicePortBackends[] {
  return ports
    .map((port) => ({ port, key: `${port.createdAt} ${port.uid} ${port.name}` }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ port }) => port)
}

const nodePortText = ({ nodePort, protocol }: ServicePortBackends): string =>
  `node port ${nodePort}/${protocol}`

interface Judge {
  /** Returns why the service may not have the address, or undefined if it may. */
  clusterAddress(address: string, port: ServicePortBackends): string | undefined
  externalAddress(address: string, port: ServicePortBackends): string | undefined
  /** Returns why the machine does not serve the port at an address of its own. */
  machinePort(address: string, port: ServicePortBackends): string | undefined
  /** Returns why the address belongs to no service, except on the machine that has it. */
  reserved(address: string): string | undefined
  /** Reports whether the address is that of a machine, as far as the API shows. */
  isOfMachine(address: string): boolean
  nodePort(port: ServicePortBackends): string | undefined
}

function createJudge(oldestFirst: readonly ServicePortBackends[], owners: AddressOwners): Judge {
  const pods = blockOf(owners.clusterCidr)
  const services = blockOf(owners.serviceCidr)
  const own = new Set(owners.ownAddresses)
  const nodes = new Set(owners.nodeAddresses)
  const reserved = new Set(owners.reservedAddresses)
  const clusterOwners = new Map<string, string>()
  for (const { clusterIps, service } of oldestFirst) {
    for (const address of clusterIps) {
      if (!clusterOwners.has(address)) clusterOwners.set(address, service)
    }
  }
  const nodePorts = new Set(oldestFirst.map(({ nodePort, protocol }) => `${protocol} ${nodePort}`))
  const taken = new Map<string, string>()
  const contested = (key: string, { service, name }: ServicePortBackends): string | undefined => {
    const owner = taken.get(key)
    if (owner === undefined) taken.set(key, name)
    return owner === undefined || owner === name ? undefined : `${whose(owner, service)} has it`
  }
  const isReserved = (address: string): string | undefined =>
    reserved.has(address) ? 'the machine itself needs it' : undefined
  const ofMachines = (address: string): string | undefined => {
    if (pods.check(address)) return 'it is an address of pods'
    return nodes.has(address) ? 'it is an address of a node' : isReserved(address)
  }
  return {
    clusterAddress(address, { service }) {
      const fault = faultOf(address)
      if (fault !== undefined) return fault
      const owner = clusterOwners.get(address)
      if (owner !== service) return `service ${owner} has it`
      // Within its own range a service takes precedence: a stolen node may claim any address as its
      // own.
      return services.check(address) ? undefined : ofMachines(address)
    },
    externalAddress(address, port) {
      const fault = faultOf(address)
      if (fault !== undefined) return fault
      if (own.has(address)) return "it is the cluster DNS server's"
      const owner = clusterOwners.get(address)
      if (owner !== undefined) return `it is the cluster address of service ${owner}`
      if (services.check(address)) return 'it is within the range of services'
      if (pods.check(address)) return 'it is an address of pods'
      return contested(`${address} ${port.protocol} ${port.port}`, port)
    },
    machinePort(address, { protocol, port }) {
      if (owners.machine === undefined) return 'the ports of the machine are not known yet'
      if (nodePorts.has(`${protocol} ${port}`)) return `port ${port}/${protocol} is a node port`
      const user = userOf(owners.machine, { protocol, port, address })
      return user === undefined ? undefined : `${user} uses port ${port}/${protocol}`
    },
    // The node that has an address says what it does not serve there.
    reserved: (address) => (nodes.has(address) ? undefined : isReserved(address)),
    isOfMachine: (address) => nodes.has(address) || reserved.has(address),
    nodePort(port) {
      if (port.nodePort === undefined) return undefined
      return contested(`${port.protocol} ${port.nodePort}`, port)
    },
  }
}

function whose(owner: string, service: string): string {
  return owner.startsWith(`${service}:`) ? 'another port of it' : `service ${owner}`
}

function blockOf(cidr: string): BlockList {
  const [network = '', length = ''] = cidr.split('/')
  const block = new BlockList()
  block.addSubnet(network, Number(length), 'ipv4')
  return block
}

/**
 * Returns true for addresses with a special meaning on every machine (RFC 6890): 0/8, 127/8,
 * 169.254/16, and all from 224 on. Compares numbers, because every endpoint is checked at each
 * change.
 */
function isSpecial(address: string): boolean {
  const [first = 0, second] = address.split('.', 2).map(Number)
  return first === 0 || first === 127 || first >= 224 || (first === 169 && second === 254)
}

/** nft would interpret `010.0.0.1` in its own way, or refuse the whole table because of it. */
function faultOf(address: string): string | undefined {
  if (!isIPv4(address)) return 'it is not an IPv4 address in its usual form'
  return isSpecial(address) ? 'every machine has it for itself, its link or groups' : undefined
}

function isEndpoint({ address }: Backend): boolean {
  return faultOf(address) === undefined
}
