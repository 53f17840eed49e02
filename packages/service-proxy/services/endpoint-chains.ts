import { createHash } from 'node:crypto'
import type { NftChain, NftSet } from '../nftables/nft-table.ts'
import type { PlannedPort } from './address-plan.ts'
import type { Backend, Protocol } from './service-ports.ts'

/** Marks traffic that must leave with the node's address; the same bit that kube-proxy uses. */
export const masqueradeMark = '0x4000'

export const serviceKey = 'ip daddr . meta l4proto . th dport'
export const nodePortKey = 'meta l4proto . th dport'

/** The chains and elements that find endpoints. Endpoints are in maps for each protocol. */
export interface EndpointDraft {
  readonly endpoints: Record<Protocol, Map<string, string>>
  readonly nodePortEndpoints: Record<Protocol, Map<string, string>>
  readonly chains: Map<string, NftChain>
  readonly affinitySets: Map<string, NftSet>
}

/** The sources of traffic, as far as a node sees them. */
export interface Sources {
  readonly clusterCidr: string
  /** The range of this node's pods; undefined until it is known. */
  readonly podCidr: string | undefined
}

/** Something that traffic is sent to. */
export interface Target {
  /** The key of its elements: an address, protocol and port, or a protocol and node port. */
  readonly key: string
  readonly isNodePort: boolean
  /** Only that traffic comes from outside of the cluster, as a rule. */
  readonly isExternal: boolean
}

/**
 * Adds what leads traffic of the target to its endpoints, and returns the chain that does. Returns undefined if there is no
 * endpoint at all.
 *
 * - Traffic to a cluster IP keeps its source.
 * - Traffic from outside that may go to another node gets the node's address as its source, so that the answer comes back
 *   here.
 * - Traffic from outside that stays on its node (`externalTrafficPolicy: Local`) keeps its source. Clients in the cluster
 *   use all endpoints, as in kube-proxy.
 */
export function addEndpoints(
  draft: EndpointDraft,
  { port, target, sources }: { port: PlannedPort; target: Target; sources: Sources },
): string | undefined {
  const near = target.isExternal ? port.external : port.internal
  const keeps = target.isExternal && port.keepsClientAddress
  const far = keeps ? port.everywhere : []
  if (near.length === 0 && far.length === 0) return undefined
  const given = { port, target, near, far }
  if (port.affinitySeconds !== undefined) return addAffine(draft, given, sources)
  addElements(draft, { port, target, backends: [...near, ...far] })
  const suffix = suffixOf(port.protocol)
  if (!keeps) {
    const family = !target.isExternal ? 'n' : target.isNodePort ? 'p' : 'x'
    const name = `${family}${near.length}${suffix}`
    const mark = markOf(target, sources)
    const rules = [...mark, translate(target, suffix, { count: near.length })]
    draft.chains.set(name, { rules })
    return name
  }
  const name = `${target.isNodePort ? 'l' : 'y'}${near.length}-${far.length}${suffix}`
  const anywhere = translate(target, suffix, { count: far.length, offset: near.length })
  draft.chains.set(name, {
    rules: [
      ...insiders(sources).flatMap((match) => (far.length > 0 ? [`${match} ${anywhere}`] : [])),
      ...(near.length > 0 ? [translate(target, suffix, { count: near.length })] : []),
    ],
  })
  return name
}

export function suffixOf(protocol: Protocol): string {
  return protocol === 'tcp' ? '' : `-${protocol}`
}

/** Matches clients that outside policies do not concern: the cluster's pods and this machine. */
function insiders({ clusterCidr }: Sources): string[] {
  return [`ip saddr ${clusterCidr}`, 'fib saddr type local']
}

function markOf({ isExternal, isNodePort }: Target, { podCidr }: Sources): string[] {
  if (!isExternal) return []
  const mark = `meta mark set meta mark | ${masqueradeMark}`
  if (isNodePort) return [mark]
  // Answers to the machine and its own pods come back here anyway.
  const others = podCidr === undefined ? '' : `ip saddr != ${podCidr} `
  return [`${others}fib saddr type != local ${mark}`]
}

function translate(
  { isNodePort }: Target,
  suffix: string,
  { count, offset = 0 }: { count: number; offset?: number },
): string {
  const [key, map] = isNodePort
    ? [nodePortKey, `nodeport-endpoints${suffix}`]
    : [serviceKey, `endpoints${suffix}`]
  const index = `numgen random mod ${count}${offset === 0 ? '' : ` offset ${offset}`}`
  return `dnat ip to ${key} . ${index} map @${map}`
}

function addElements(
  draft: EndpointDraft,
  { port, target, backends }: { port: PlannedPort; target: Target; backends: readonly Backend[] },
): void {
  const maps = target.isNodePort ? draft.nodePortEndpoints : draft.endpoints
  for (const [index, backend] of backends.entries()) {
    maps[port.protocol].set(`${target.key} . ${index}`, `${backend.address} . ${backend.port}`)
  }
}

interface Affine {
  readonly port: PlannedPort
  readonly target: Target
  readonly near: readonly Backend[]
  readonly far: readonly Backend[]
}

/** A service with ClientIP affinity has chains and sets of its own. */
function addAffine(
  draft: EndpointDraft,
  { port, target, near, far }: Affine,
  sources: Sources,
): string {
  const place = target.isNodePort ? 'node' : target.key
  const first = near.length === 0 ? undefined : addChoice(draft, port, { place, backends: near })
  const mark = port.keepsClientAddress ? [] : markOf(target, sources)
  if (first !== undefined && far.length === 0 && mark.length === 0) return first
  const name = `o-${idOf(port, place)}`
  const second =
    far.length === 0 ? [] : [addChoice(draft, port, { place: `${place} all`, backends: far })]
  draft.chains.set(name, {
    rules: [
      ...second.flatMap((chain) => insiders(sources).map((match) => `${match} goto ${chain}`)),
      ...mark,
      ...(first === undefined ? [] : [`goto ${first}`]),
    ],
  })
  return name
}

/** A client keeps its endpoint for as long as the kernel remembers it; otherwise it gets a random one. */
function addChoice(
  draft: EndpointDraft,
  port: PlannedPort,
  { place, backends }: { place: string; backends: readonly Backend[] },
): string {
  const id = idOf(port, place)
  const jumps: string[] = []
  const choices: string[] = []
  for (const [index, backend] of backends.entries()) {
    const endpoint = `e-${id}-${shortHash(`${backend.address}:${backend.port}`)}`
    draft.affinitySets.set(endpoint, {
      type: 'set',
      declaration: `type ipv4_addr; flags dynamic,timeout; timeout ${port.affinitySeconds ?? 0}s; size 65535;`,
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
  const draw = `numgen random mod ${choices.length} vmap { ${choices.join(', ')} }`
  draft.chains.set(name, { rules: [...jumps, draw] })
  return name
}

function idOf({ name, protocol }: PlannedPort, place: string): string {
  return shortHash(`${name} ${protocol} ${place}`)
}

export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}
