import { BlockList, isIPv4, isIPv6 } from 'node:net'
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
}

export interface RefusedAddress {
  /** The namespace/name of the service. */
  readonly service: string
  /** An address, or `node port 30080/tcp`. */
  readonly address: string
  readonly reason: string
}

/** Assigns each address to the port that receives its traffic. */
export interface AddressPlan {
  /** The ports, with only those addresses that each may take. */
  readonly ports: readonly ServicePortBackends[]
  /** Each service and address once. */
  readonly refused: readonly RefusedAddress[]
}

/**
 * Gives every address to its owner. A service's cluster address takes precedence over external
 * addresses of others. If services want the same address and port, the oldest gets it. An external
 * address belongs to the namespace of the oldest service that names it: services there may share it
 * by different ports, those of other namespaces get none of its ports. External addresses and node
 * ports never take what belongs to nodes, pods, services or the machine itself. Stricter than
 * kube-proxy, which serves whatever a Service names. A pure function.
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
  const planned = oldestFirst.map((port): ServicePortBackends => {
    const { service } = port
    return {
      ...port,
      clusterIps: port.clusterIps
        .filter((address) => !isIPv6(address))
        .filter((address) => accept(service, address, judge.clusterAddress(address, port))),
      externalIps: port.externalIps
        .filter((address) => !isIPv6(address))
        .filter((address) => accept(service, address, judge.externalAddress(address, port))),
      nodePort: accept(service, nodePortText(port), judge.nodePort(port))
        ? port.nodePort
        : undefined,
      internal: port.internal.filter(isEndpoint),
      external: port.external.filter(isEndpoint),
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
  const namespaceOf = new Map<string, string>()
  for (const { externalIps, service } of oldestFirst) {
    for (const address of externalIps) {
      if (!namespaceOf.has(address)) namespaceOf.set(address, namespaceIn(service))
    }
  }
  const ofOthers = (address: string, { service }: ServicePortBackends): string | undefined => {
    const namespace = namespaceOf.get(address)
    return namespace === namespaceIn(service) ? undefined : `namespace ${namespace} has it`
  }
  const taken = new Map<string, string>()
  const contested = (key: string, { service, name }: ServicePortBackends): string | undefined => {
    const owner = taken.get(key)
    if (owner === undefined) taken.set(key, name)
    return owner === undefined || owner === name ? undefined : `${whose(owner, service)} has it`
  }
  const ofMachines = (address: string): string | undefined => {
    if (pods.check(address)) return 'it is an address of pods'
    if (nodes.has(address)) return 'it is an address of a node'
    return reserved.has(address) ? 'the machine itself needs it' : undefined
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
      return (
        ofMachines(address) ??
        ofOthers(address, port) ??
        contested(`${address} ${port.protocol} ${port.port}`, port)
      )
    },
    nodePort(port) {
      if (port.nodePort === undefined) return undefined
      return contested(`${port.protocol} ${port.nodePort}`, port)
    },
  }
}

const namespaceIn = (service: string): string => service.slice(0, service.indexOf('/'))

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
