import { createHash } from 'node:crypto'
import type { NftChain, NftSet, NftTable } from '../nftables/nft-table.ts'
import type { AddressOwners, AddressPlan } from './address-plan.ts'
import type { Backend, Protocol, ServicePortBackends } from './service-ports.ts'

export interface ServiceNetwork extends AddressOwners {
  /** The range of this node's pods; undefined until it is known. */
  readonly podCidr: string | undefined
}

const tableName = 'skerry'

/** Marks traffic that must leave with the node's address; the same bit that kube-proxy uses. */
const masqueradeMark = '0x4000'

const serviceKey = 'ip daddr . meta l4proto . th dport'
const nodePortKey = 'meta l4proto . th dport'
/**
 * Endpoints are in a map for each protocol: nft 1.0.6 cannot read `ip daddr . th dport` back from
 * the kernel, and a rule that translates by a map of `tcp dport` matches only TCP.
 */
const protocols: readonly Protocol[] = ['tcp', 'udp', 'sctp']

interface Draft {
  services: Map<string, string>
  externals: Map<string, string>
  endpoints: Record<Protocol, Map<string, string>>
  nodePorts: Map<string, string>
  nodePortEndpoints: Record<Protocol, Map<string, string>>
  refused: Map<string, string>
  refusedExternals: Map<string, string>
  refusedNodePorts: Map<string, string>
  hairpin: Map<string, string>
  chains: Map<string, NftChain>
  affinitySets: Map<string, NftSet>
}

/**
 * Builds the flat layout: one lookup finds the service (a verdict `goto n<count>`), one more finds
 * the endpoint by a random index. A thousand services are a thousand elements, not a thousand
 * chains. Only services with ClientIP affinity have their own chains.
 */
export function buildServiceTable({ ports }: AddressPlan, network: ServiceNetwork): NftTable {
  const draft = emptyDraft()
  for (const port of ports) {
    for (const address of port.clusterIps) {
      if (!network.ownAddresses.includes(address)) {
        addAddress(draft, port, { address, backends: port.internal, isExternal: false })
      }
    }
    for (const address of port.externalIps) {
      addAddress(draft, port, { address, backends: port.external, isExternal: true })
    }
    addNodePort(draft, port)
    for (const backend of port.internal)
      draft.hairpin.set(`${backend.address} . ${backend.address}`, '')
  }
  return { name: tableName, sets: setsOf(draft), chains: chainsOf(draft, network) }
}

function emptyDraft(): Draft {
  return {
    services: new Map(),
    externals: new Map(),
    endpoints: { tcp: new Map(), udp: new Map(), sctp: new Map() },
    nodePorts: new Map(),
    nodePortEndpoints: { tcp: new Map(), udp: new Map(), sctp: new Map() },
    refused: new Map(),
    refusedExternals: new Map(),
    refusedNodePorts: new Map(),
    hairpin: new Map(),
    chains: new Map(),
    affinitySets: new Map(),
  }
}

function addAddress(
  draft: Draft,
  port: ServicePortBackends,
  target: { address: string; backends: readonly Backend[]; isExternal: boolean },
): void {
  const [verdicts, refused] = target.isExternal
    ? [draft.externals, draft.refusedExternals]
    : [draft.services, draft.refused]
  const key = `${target.address} . ${port.protocol} . ${port.port}`
  if (target.backends.length === 0) {
    refused.set(key, '')
    return
  }
  if (port.affinitySeconds !== undefined) {
    verdicts.set(key, `goto ${addAffinity(draft, port, { ...target, isNodePort: false })}`)
    return
  }
  const chain = addCount(draft, { family: 'n', protocol: port.protocol }, target.backends.length)
  verdicts.set(key, `goto ${chain}`)
  for (const [index, backend] of target.backends.entries()) {
    draft.endpoints[port.protocol].set(`${key} . ${index}`, `${backend.address} . ${backend.port}`)
  }
}

function addNodePort(draft: Draft, port: ServicePortBackends): void {
  if (port.nodePort === undefined) return
  const key = `${port.protocol} . ${port.nodePort}`
  if (port.external.length === 0) {
    draft.refusedNodePorts.set(key, '')
    return
  }
  if (port.affinitySeconds !== undefined) {
    const chain = addAffinity(draft, port, {
      address: 'node',
      backends: port.external,
      isNodePort: true,
    })
    draft.nodePorts.set(key, `goto ${chain}`)
    return
  }
  const family = port.keepsClientAddress ? 'l' : 'p'
  const chain = addCount(draft, { family, protocol: port.protocol }, port.external.length)
  draft.nodePorts.set(key, `goto ${chain}`)
  for (const [index, backend] of port.external.entries()) {
    draft.nodePortEndpoints[port.protocol].set(
      `${key} . ${index}`,
      `${backend.address} . ${backend.port}`,
    )
  }
}

/** n: by address; p: node port, masqueraded; l: node port that keeps the client's address. */
function addCount(
  draft: Draft,
  { family, protocol }: { family: 'n' | 'p' | 'l'; protocol: Protocol },
  count: number,
): string {
  const suffix = suffixOf(protocol)
  const name = `${family}${count}${suffix}`
  const rule =
    family === 'n'
      ? `dnat ip to ${serviceKey} . numgen random mod ${count} map @endpoints${suffix}`
      : `dnat ip to ${nodePortKey} . numgen random mod ${count} map @nodeport-endpoints${suffix}`
  draft.chains.set(name, { rules: family === 'p' ? [markRule, rule] : [rule] })
  return name
}

function suffixOf(protocol: Protocol): string {
  return protocol === 'tcp' ? '' : `-${protocol}`
}

const markRule = `meta mark set meta mark | ${masqueradeMark}`

/** A client keeps its endpoint for as long as the kernel remembers it; otherwise it gets a random one. */
function addAffinity(
  draft: Draft,
  port: ServicePortBackends,
  target: { address: string; backends: readonly Backend[]; isNodePort: boolean },
): string {
  const id = shortHash(`${port.name} ${port.protocol} ${target.address}`)
  const seconds = port.affinitySeconds ?? 0
  const jumps: string[] = []
  const choices: string[] = []
  for (const [index, backend] of target.backends.entries()) {
    const endpoint = `e-${id}-${shortHash(`${backend.address}:${backend.port}`)}`
    draft.affinitySets.set(endpoint, {
      type: 'set',
      declaration: `type ipv4_addr; flags dynamic,timeout; timeout ${seconds}s; size 65535;`,
    })
    draft.chains.set(endpoint, {
      rules: [
        `update @${endpoint} { ip saddr }`,
        `meta l4proto ${port.protocol} dnat ip to ${backend.address}:${backend.port}`,
      ],
    })
    jumps.push(`ip saddr @${endpoint} goto ${endpoint}`)
    choices.push(`${index} : goto ${endpoint}`)
  }
  const name = `s-${id}`
  const mark = target.isNodePort && !port.keepsClientAddress ? [markRule] : []
  draft.chains.set(name, {
    rules: [
      ...mark,
      ...jumps,
      `numgen random mod ${choices.length} vmap { ${choices.join(', ')} }`,
    ],
  })
  return name
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
  return new Map<string, NftSet>([
    [
      'services',
      { type: 'map', declaration: `typeof ${serviceKey} : verdict;`, elements: draft.services },
    ],
    [
      'externals',
      { type: 'map', declaration: `typeof ${serviceKey} : verdict;`, elements: draft.externals },
    ],
    ...indexed('endpoints', serviceKey, draft.endpoints),
    [
      'nodeports',
      { type: 'map', declaration: `typeof ${nodePortKey} : verdict;`, elements: draft.nodePorts },
    ],
    ...indexed('nodeport-endpoints', nodePortKey, draft.nodePortEndpoints),
    ['refused', { type: 'set', declaration: `typeof ${serviceKey};`, elements: draft.refused }],
    [
      'refused-externals',
      { type: 'set', declaration: `typeof ${serviceKey};`, elements: draft.refusedExternals },
    ],
    [
      'refused-nodeports',
      { type: 'set', declaration: `typeof ${nodePortKey};`, elements: draft.refusedNodePorts },
    ],
    [
      'hairpin',
      { type: 'set', declaration: 'typeof ip saddr . ip daddr;', elements: draft.hairpin },
    ],
    ...draft.affinitySets,
  ])
}

/**
 * Refusal comes after NAT (priority 0): translated packets no longer have the service's address. An
 * address of one of the machine's interfaces belongs to the machine: the plan knows nodes'
 * addresses as the API shows them, the kernel as they are.
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
          `${serviceKey} @refused fib daddr type != local goto refuse`,
          `${serviceKey} @refused-externals fib daddr type != local goto refuse`,
          `fib daddr type local ${nodePortKey} @refused-nodeports goto refuse`,
        ],
      },
    ],
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

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}
