import type { EdgeCluster, MachineRole } from '../kind/edge-cluster.ts'
import { droppedBy, type Probe } from '../firewall/packet-fate.ts'
import { iptablesRules } from '../firewall/iptables-rules.ts'
import { nftRules } from '../firewall/nft-rules.ts'
import { overlap, rangeOf, type Range } from '../kind/address-range.ts'
import { edgeNetworkDefaults, provisioningBounds } from '../limits-table.ts'
import { whyBehindRange } from '../kind/network-checks.ts'
import { memberPorts, type Facts } from './preflight-facts.ts'
import { apiPortDefault } from '../kind/made-masters.ts'

const { listedMax } = provisioningBounds.preflight

interface NetworkJudged {
  readonly edge: Pick<EdgeCluster, 'spec'>
  readonly role: MachineRole
  /** If omitted, the port of all sites. */
  readonly apiPort?: number | undefined
  /** Whether the machine runs a member of the site's etcd. */
  readonly hasMember: boolean
  /** Whether other machines must reach this one. */
  readonly hasOthers: boolean
  /** Whether the machine is already one of this cluster, with the cluster's own routes. */
  readonly isMember: boolean
}

/** Returns what is wrong with a machine's names, routes and firewall, each with its remedy. */
export function networkFindings(
  facts: Facts,
  { edge, role, hasMember, hasOthers, isMember, apiPort = apiPortDefault }: NetworkJudged,
): string[] {
  return [
    ...linkFindings(facts, isMember),
    ...nameFindings(facts),
    ...interfaceFindings(facts, edge),
    ...(role === 'Master' ? virtualIpFindings(facts, edge) : []),
    ...(isMember ? [] : routeFindings(facts, edge)),
    ...(hasOthers ? firewallFindings(facts, { role, hasMember, apiPort }) : []),
  ]
}

/** The object names no address of the hub if it takes the hub's own, which nothing has compared with its ranges then. */
export function hubFindings(server: string, { spec }: Pick<EdgeCluster, 'spec'>): string[] {
  const why = whyBehindRange(spec, server)
  if (why === undefined) return []
  return [`the address of the hub, ${server}, ${why}; choose another range, or set spec.hubServer`]
}

function linkFindings(facts: Facts, isMember: boolean): string[] {
  // Pods of a member may have brought links of their own.
  const links = isMember ? [] : (facts.get('leftover-link') ?? []).slice(0, listedMax)
  return links.map(
    (link) =>
      `interface ${link} is of another Kubernetes: remove that first, then restart the machine`,
  )
}

function nameFindings(facts: Facts): string[] {
  const unknown = (facts.get('name-unknown') ?? []).slice(0, listedMax)
  return unknown.map((text) => {
    const [kind = '', name = ''] = text.split(' ')
    return kind === 'hub'
      ? `it does not know the address of the hub, ${name}: correct its DNS, add the name to /etc/hosts, or set spec.hubServer`
      : `it does not know the address of its package mirror, ${name}: correct its DNS or /etc/apt/sources.list, or set spec.proxy`
  })
}

/** Without it, the address of the machine in the cluster would be missed after everything is installed. */
function interfaceFindings(facts: Facts, { spec }: Pick<EdgeCluster, 'spec'>): string[] {
  const wanted = spec.networkInterface
  const links = facts.get('link') ?? []
  if (wanted === undefined || links.length === 0 || links.includes(wanted)) return []
  const there = links.filter((link) => link !== 'lo').slice(0, listedMax)
  return [
    `it has no interface ${wanted}, only ${there.join(', ') || 'loopback'}: correct spec.networkInterface`,
  ]
}

/** The step that sets a virtual IP looks closer, but it comes when the masters are made. */
function virtualIpFindings(facts: Facts, { spec }: Pick<EdgeCluster, 'spec'>): string[] {
  const { type, address = '' } = spec.highAvailability ?? {}
  const virtual = rangeOf(`${address}/32`)
  if (type !== 'VirtualIP' || virtual === undefined) return []
  const networks = (facts.get('route') ?? []).flatMap((text) => {
    const [link = '', first = '', mask = ''] = text.split(' ')
    const isAsked = spec.networkInterface === undefined || spec.networkInterface === link
    const route = isAsked ? routeOf(first, mask) : undefined
    return route === undefined || route.bits === 0 ? [] : [route]
  })
  if (networks.length === 0 || networks.some((network) => overlap(network, virtual))) return []
  const shown = [...new Set(networks.map(textOf))].slice(0, listedMax).join(', ')
  return [
    `none of its networks (${shown}) has spec.highAvailability.address ${address}: choose an address there that no machine has`,
  ]
}

/** Routes of a machine that lead into the ranges of the cluster would be cut off, or cut the cluster off. */
function routeFindings(facts: Facts, { spec }: Pick<EdgeCluster, 'spec'>): string[] {
  const { podCIDR, serviceCIDR } = { ...edgeNetworkDefaults, ...spec.network }
  const found = (facts.get('route') ?? []).flatMap((text) => {
    const [link = '', address = '', mask = ''] = text.split(' ')
    const route = routeOf(address, mask)
    if (route === undefined || route.bits === 0) return []
    return [
      ['podCIDR', podCIDR],
      ['serviceCIDR', serviceCIDR],
    ].flatMap(([field = '', cidr = '']) => {
      const range = rangeOf(cidr)
      if (range === undefined || !overlap(route, range)) return []
      const shown = `its route to ${textOf(route)} by ${link}`
      return [
        `${shown} overlaps with spec.network.${field}, ${cidr}: choose another range, or remove the route`,
      ]
    })
  })
  return [...new Set(found)].slice(0, listedMax)
}

/** Reads two columns of /proc/net/route: hexadecimal numbers in the byte order of the processor, which is little-endian. */
function routeOf(address: string, mask: string): Range | undefined {
  if (!/^[0-9A-F]{8}$/i.test(address) || !/^[0-9A-F]{8}$/i.test(mask)) return undefined
  const ones = numberOfHex(mask).toString(2).replaceAll('0', '').length
  return { first: numberOfHex(address), bits: ones }
}

function numberOfHex(text: string): number {
  return Buffer.from(text, 'hex').readUInt32LE()
}

function textOf({ first, bits }: Range): string {
  const octets = [24, 16, 8, 0].map((shift) => Math.floor(first / 2 ** shift) % 256)
  return `${octets.join('.')}/${bits}`
}

const nodes: readonly MachineRole[] = ['Master', 'Node']

function probesOf(
  apiPort: number,
): readonly (Probe & { readonly roles: readonly MachineRole[]; readonly use: string })[] {
  return [
    { protocol: 'tcp', port: apiPort, roles: ['Master'], use: 'for the API' },
    { protocol: 'tcp', port: 10_250, roles: nodes, use: 'for logs and exec' },
    { protocol: 'udp', port: 8_472, roles: nodes, use: 'for pods of other networks' },
  ]
}

/** etcd listens on the machines that have a member. */
const memberProbes = memberPorts.map((port) => ({
  protocol: 'tcp' as const,
  port,
  use: "for the masters' etcd",
}))

function firewallFindings(
  facts: Facts,
  {
    role,
    hasMember,
    apiPort,
  }: Pick<NetworkJudged, 'role' | 'hasMember'> & { readonly apiPort: number },
): string[] {
  const lines = facts.get('iptables') ?? []
  // Without odd conditions nft shows the table of iptables as well.
  const tables = nftRules(facts.get('nft')?.[0] ?? '').filter(
    ({ name }) => lines.length === 0 || name !== 'table ip filter',
  )
  const rules = [...tables, iptablesRules(lines)]
  const own = probesOf(apiPort).filter(({ roles }) => roles.includes(role))
  return [...own, ...(hasMember ? memberProbes : [])].flatMap((probe) => {
    const by = droppedBy(rules, probe)
    if (by.length === 0) return []
    const port = `${probe.protocol.toUpperCase()} port ${probe.port}`
    return [
      `its firewall (${by.join(', ')}) drops packets to ${port}: let them in from the machines of the cluster, ${probe.use}`,
    ]
  })
}
