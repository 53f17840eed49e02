import type { NftChain, NftSet, NftTable } from '../nftables/nft-table.ts'
import type { AddressOwners, AddressPlan, PlannedPort } from './address-plan.ts'
import {
  addEndpoints,
  masqueradeMark,
  nodePortKey,
  serviceKey,
  shortHash,
  suffixOf,
  type EndpointDraft,
  type Target,
} from './endpoint-chains.ts'
import type { Protocol } from './service-ports.ts'

export interface ServiceNetwork extends AddressOwners {
  /** The range of this node's pods; undefined until it is known. */
  readonly podCidr: string | undefined
}

const tableName = 'skerry'

/**
 * Endpoints are in a map for each protocol: nft 1.0.6 cannot read `ip daddr . th dport` back from
 * the kernel, and a rule that translates by a map of `tcp dport` matches only TCP.
 */
const protocols: readonly Protocol[] = ['tcp', 'udp', 'sctp']

/** Verdicts about traffic, and about what is left of it after the translation. */
interface Verdicts {
  readonly found: Map<string, string>
  readonly refused: Map<string, string>
}

interface Draft extends EndpointDraft {
  readonly services: Verdicts
  readonly externals: Verdicts
  /** The same addresses, while this machine has them. */
  readonly machine: Verdicts
  readonly nodePorts: Verdicts
  /** Addresses that not every client may use. */
  readonly guarded: Map<string, string>
  readonly hairpin: Map<string, string>
}

/**
 * Builds the flat layout: one lookup finds the service (a verdict `goto n<count>`), one more finds
 * the endpoint by a random index. A thousand services are a thousand elements, not a thousand
 * chains. Only services with ClientIP affinity or source ranges have their own chains.
 */
export function buildServiceTable({ ports }: AddressPlan, network: ServiceNetwork): NftTable {
  const draft = emptyDraft()
  for (const port of ports) {
    for (const address of port.clusterIps) {
      if (network.ownAddresses.includes(address)) continue
      const target = { key: keyOf(address, port), isNodePort: false, isExternal: false }
      addTarget(draft, { port, target, network, places: [draft.services] })
    }
    for (const address of new Set([...port.externalIps, ...port.machineIps])) {
      const target = { key: keyOf(address, port), isNodePort: false, isExternal: true }
      const places = [
        ...(port.externalIps.includes(address) ? [draft.externals] : []),
        ...(port.machineIps.includes(address) ? [draft.machine] : []),
      ]
      addTarget(draft, { port, target, network, places })
      addGuard(draft, port, address)
    }
    if (port.nodePort !== undefined) {
      const key = `${port.protocol} . ${port.nodePort}`
      const target = { key, isNodePort: true, isExternal: true }
      addTarget(draft, { port, target, network, places: [draft.nodePorts] })
    }
    for (const backend of [...port.internal, ...port.everywhere])
      draft.hairpin.set(`${backend.address} . ${backend.address}`, '')
  }
  return { name: tableName, sets: setsOf(draft), chains: chainsOf(draft, network) }
}

function emptyDraft(): Draft {
  const byProtocol = (): Record<Protocol, Map<string, string>> => ({
    tcp: new Map(),
    udp: new Map(),
    sctp: new Map(),
  })
  const verdicts = (): Verdicts => ({ found: new Map(), refused: new Map() })
  return {
    services: verdicts(),
    externals: verdicts(),
    machine: verdicts(),
    nodePorts: verdicts(),
    endpoints: byProtocol(),
    nodePortEndpoints: byProtocol(),
    guarded: new Map(),
    hairpin: new Map(),
    chains: new Map(),
    affinitySets: new Map(),
  }
}

function keyOf(address: string, { protocol, port }: PlannedPort): string {
  return `${address} . ${protocol} . ${port}`
}

interface Placed {
  readonly port: PlannedPort
  readonly target: Target
  readonly network: ServiceNetwork
  readonly places: readonly Verdicts[]
}

/** A service whose endpoints are all on other nodes, and not for this traffic, drops it, as in kube-proxy. */
function addTarget(draft: Draft, { port, target, network, places }: Placed): void {
  const { key, isExternal } = target
  const chain = addEndpoints(draft, { port, target, sources: network })
  const isServed = (isExternal ? port.external : port.internal).length > 0
  for (const { found, refused } of places) {
    if (chain !== undefined) found.set(key, `goto ${chain}`)
    if (!isServed) refused.set(key, port.everywhere.length > 0 ? 'drop' : 'goto refuse')
  }
}

function addGuard(draft: Draft, port: PlannedPort, address: string): void {
  const { sources } = port
  if (sources === undefined || !sources.addresses.includes(address)) return
  const name = `r-${shortHash(`${port.service} ${sources.ranges.join()}`)}`
  const { ranges } = sources
  const allow = ranges.length === 0 ? [] : [`ip saddr { ${ranges.join(', ')} } return`]
  draft.chains.set(name, { rules: [...allow, 'drop'] })
  draft.guarded.set(keyOf(address, port), `goto ${name}`)
}

function setsOf(draft: Draft): Map<string, NftSet> {
  const indexed = (
    name: string,
    key: string,
    elements: Record<Protocol, Map<string, string>>,
  ): [string, NftSet][] =>
    protocols.map((protocol) => {
      const declaration = `typeof ${key} . numgen random mod 65535 : ip daddr . ${protocol} dport;`
      const map = { type: 'map' as const, declaration, elements: elements[protocol] }
      return [`${name}${suffixOf(protocol)}`, map]
    })
  const verdicts = (key: string, elements: Map<string, string>): NftSet => ({
    type: 'map',
    declaration: `typeof ${key} : verdict;`,
    elements,
  })
  return new Map<string, NftSet>([
    ['services', verdicts(serviceKey, draft.services.found)],
    ['externals', verdicts(serviceKey, draft.externals.found)],
    ['machine', verdicts(serviceKey, draft.machine.found)],
    ...indexed('endpoints', serviceKey, draft.endpoints),
    ['nodeports', verdicts(nodePortKey, draft.nodePorts.found)],
    ...indexed('nodeport-endpoints', nodePortKey, draft.nodePortEndpoints),
    ['refused', verdicts(serviceKey, draft.services.refused)],
    ['refused-externals', verdicts(serviceKey, draft.externals.refused)],
    ['refused-machine', verdicts(serviceKey, draft.machine.refused)],
    ['refused-nodeports', verdicts(nodePortKey, draft.nodePorts.refused)],
    ['guarded', verdicts(serviceKey, draft.guarded)],
    [
      'hairpin',
      { type: 'set', declaration: 'typeof ip saddr . ip daddr;', elements: draft.hairpin },
    ],
    ...draft.affinitySets,
  ])
}

/**
 * Refusal comes after NAT (priority 0): translated packets no longer have the service's address. The guard comes before it.
 * An address of one of the machine's interfaces belongs to the machine: the plan knows nodes' addresses as the API shows
 * them, the kernel as they are.
 */
function chainsOf(draft: Draft, network: ServiceNetwork): Map<string, NftChain> {
  const own = network.ownAddresses.map((address) => `ip daddr ${address} return`)
  return new Map<string, NftChain>([
    ...[...draft.chains].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    [
      'find-service',
      {
        rules: [
          ...own,
          `fib daddr type != local ${serviceKey} vmap @services`,
          `fib daddr type != local ${serviceKey} vmap @externals`,
          `fib daddr type local ${serviceKey} vmap @machine`,
          `fib daddr type local ip daddr != 127.0.0.0/8 ${nodePortKey} vmap @nodeports`,
        ],
      },
    ],
    ['refuse', { rules: ['meta l4proto tcp reject with tcp reset', 'reject'] }],
    [
      'find-refused',
      {
        rules: [
          ...own,
          `fib daddr type != local ${serviceKey} vmap @refused`,
          `fib daddr type != local ${serviceKey} vmap @refused-externals`,
          `fib daddr type local ${serviceKey} vmap @refused-machine`,
          `fib daddr type local ${nodePortKey} vmap @refused-nodeports`,
        ],
      },
    ],
    ...guards(draft),
    base('nat-prerouting', 'type nat hook prerouting priority dstnat; policy accept;', [
      'jump find-service',
    ]),
    base('nat-output', 'type nat hook output priority -100; policy accept;', ['jump find-service']),
    base('filter-prerouting', 'type filter hook prerouting priority 0; policy accept;', [
      'jump find-refused',
    ]),
    base('filter-output', 'type filter hook output priority 0; policy accept;', [
      'jump find-refused',
    ]),
    base(
      'nat-postrouting',
      'type nat hook postrouting priority srcnat; policy accept;',
      masqueradeRules(network),
    ),
  ])
}

/** Packets pass no more chains than before on a node whose services are for everybody. */
function guards({ guarded }: Draft): [string, NftChain][] {
  if (guarded.size === 0) return []
  const rules = [`${serviceKey} vmap @guarded`]
  return [
    base('guard-prerouting', 'type filter hook prerouting priority -110; policy accept;', rules),
    base('guard-output', 'type filter hook output priority -110; policy accept;', rules),
  ]
}

function base(name: string, hook: string, rules: readonly string[]): [string, NftChain] {
  return [name, { hook, rules }]
}

function masqueradeRules(network: ServiceNetwork): string[] {
  const rules = [
    `meta mark & ${masqueradeMark} == ${masqueradeMark} meta mark set meta mark & 0xffffbfff masquerade`,
    'ct status dnat ip saddr . ip daddr @hairpin masquerade',
  ]
  if (network.podCidr !== undefined) {
    rules.push(
      `ip saddr ${network.podCidr} ip daddr != ${network.clusterCidr} ip daddr != 224.0.0.0/4 masquerade`,
    )
  }
  return rules
}
