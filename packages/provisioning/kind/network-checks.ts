import { isIPv4 } from 'node:net'
import { checkDnsSubdomain, fieldInvalid, type StatusCause } from '@skerry/api'
import { edgeClusterBounds, edgeNetworkDefaults } from '../limits-table.ts'
import { numberOf, overlap, rangeOf, type Range } from './address-range.ts'
import type { EdgeClusterSpec } from './edge-cluster.ts'
import { machinesOf } from './machine-addresses.ts'
import { networkSizeOf, whyNotPods } from './network-size.ts'

/** Ranges in which no machine has an ordinary address (RFC 6890, RFC 1112), with what they are for. */
const specialRanges: readonly (readonly [cidr: string, use: string])[] = [
  ['0.0.0.0/8', 'stands for this network'],
  ['127.0.0.0/8', 'is loopback'],
  ['169.254.0.0/16', 'is link-local'],
]
/** Groups begin here, and reserved addresses follow them. */
const groupsFirst = numberOf('224.0.0.0')

/** Returns what is wrong with the address of the hub, the names of the API, and the interface. */
export function serverCauses(spec: EdgeClusterSpec): StatusCause[] {
  const { hubServer, apiNames = [], networkInterface } = spec
  const causes: StatusCause[] = []
  if (hubServer !== undefined) {
    const isUrl = /^https:\/\/[\w.-]+(:\d{1,5})?\/?$/.test(hubServer) && URL.canParse(hubServer)
    const why = isUrl ? whyBehindRange(spec, hubServer) : 'must be https://<host>[:<port>]'
    if (why !== undefined) causes.push(fieldInvalid('spec.hubServer', hubServer, why))
  }
  const { apiNamesMax } = edgeClusterBounds
  if (apiNames.length > apiNamesMax) {
    const why = `must be at most ${apiNamesMax} items`
    causes.push(fieldInvalid('spec.apiNames', apiNames.length, why))
  }
  for (const [at, name] of apiNames.slice(0, apiNamesMax).entries()) {
    causes.push(...whyNoHost(name).map((why) => fieldInvalid(`spec.apiNames[${at}]`, name, why)))
  }
  if (networkInterface !== undefined && !isInterface(networkInterface)) {
    const why = 'must be the name of a network interface, such as eth0, and not loopback'
    causes.push(fieldInvalid('spec.networkInterface', networkInterface, why))
  }
  return causes
}

/** Returns the reasons for which clients cannot dial a text, as clauses. */
export function whyNoHost(text: string): string[] {
  if (isIPv4(text)) return []
  // The last label of a name is never a number.
  if (/(^|\.)\d+$/.test(text)) return ['must be an IPv4 address or a DNS name']
  return checkDnsSubdomain(text)
}

function isInterface(name: string): boolean {
  return /^[\w.][\w.-]{0,14}$/.test(name) && !['lo', '.', '..'].includes(name)
}

/** Returns the range of the cluster that has an address, as its field and its text. */
export function rangeAround(
  { network }: Pick<Partial<EdgeClusterSpec>, 'network'>,
  address: string,
): string | undefined {
  const { podCIDR, serviceCIDR } = { ...edgeNetworkDefaults, ...network }
  if (!isIPv4(address)) return undefined
  const own = { first: numberOf(address), bits: 32 }
  for (const [name, text] of Object.entries({ podCIDR, serviceCIDR })) {
    const range = rangeOf(text)
    if (range !== undefined && overlap(own, range)) return `spec.network.${name}, ${text}`
  }
  return undefined
}

/** Returns the reason for which the machines of a cluster would not reach a URL; undefined if they would. */
export function whyBehindRange(
  spec: Pick<Partial<EdgeClusterSpec>, 'network'>,
  url: string,
): string | undefined {
  const range = rangeAround(spec, new URL(url).hostname)
  return range === undefined
    ? undefined
    : `is in ${range}: machines would look for it among the pods and services of the cluster`
}

/** Returns what is wrong with the ranges and the domain of the cluster. */
export function networkCauses(spec: Partial<EdgeClusterSpec>): StatusCause[] {
  const { network = {} } = spec
  const { podCIDR, serviceCIDR, dnsDomain } = { ...edgeNetworkDefaults, ...network }
  const pods = rangeOf(podCIDR)
  const services = rangeOf(serviceCIDR)
  const oddPods = network.podsPerNode === undefined ? undefined : whyNotPods(network.podsPerNode)
  if (oddPods !== undefined) {
    return [fieldInvalid('spec.network.podsPerNode', network.podsPerNode, oddPods)]
  }
  const { nodeBits, podsPerNode } = networkSizeOf({ network })
  const causes: StatusCause[] = []
  if (pods === undefined || pods.bits > nodeBits) {
    const why = `must be an IPv4 range such as 10.42.0.0/16, with at most ${nodeBits} bits: each node has a /${nodeBits} for ${podsPerNode} pods`
    causes.push(fieldInvalid('spec.network.podCIDR', podCIDR, why))
  }
  if (services === undefined || services.bits > 28) {
    const why = 'must be an IPv4 range such as 10.43.0.0/16, with at most 28 bits'
    causes.push(fieldInvalid('spec.network.serviceCIDR', serviceCIDR, why))
  }
  if (pods !== undefined && services !== undefined && overlap(pods, services)) {
    const why = `must not overlap spec.network.podCIDR, ${podCIDR}`
    causes.push(fieldInvalid('spec.network.serviceCIDR', serviceCIDR, why))
  }
  for (const [field, range, text] of [
    ['podCIDR', pods, podCIDR],
    ['serviceCIDR', services, serviceCIDR],
  ] as const) {
    if (range === undefined) continue
    const wrong = [whySpecial(range), ...machinesWithin(spec, range)]
    causes.push(
      ...wrong.flatMap((why) =>
        why === undefined ? [] : [fieldInvalid(`spec.network.${field}`, text, why)],
      ),
    )
  }
  const why = checkDnsSubdomain(dnsDomain)
  causes.push(...why.map((each) => fieldInvalid('spec.network.dnsDomain', dnsDomain, each)))
  return causes
}

/** Returns the reason for which machines would not route a range; undefined if they do. */
function whySpecial(range: Range): string | undefined {
  if (range.first >= groupsFirst) return 'must be below 224.0.0.0, where groups begin'
  const found = specialRanges.find(([cidr]) => {
    const special = rangeOf(cidr)
    return special !== undefined && overlap(special, range)
  })
  return found && `must not overlap ${found[0]}, which ${found[1]}`
}

function machinesWithin(spec: Partial<EdgeClusterSpec>, range: Range): string[] {
  return machinesOf(spec).flatMap(({ address }) => {
    const isWithin = isIPv4(address) && overlap({ first: numberOf(address), bits: 32 }, range)
    return isWithin ? [`contains the address of machine ${address}`] : []
  })
}
