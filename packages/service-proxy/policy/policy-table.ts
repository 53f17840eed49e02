import { createHash } from 'node:crypto'
import type { NftChain, NftSet, NftTable } from '../nftables/nft-table.ts'
import type { AllowedPeers, AllowedPorts, AllowedTraffic, IsolatedPod } from './policy-plan.ts'

const policyTableName = 'skerry-policy'

/**
 * Builds the rules of a plan, or returns undefined if nothing is isolated; then there is no table
 * at all. One lookup by address finds the pod's chain; pods with the same allowances share it. A
 * chain returns for what it allows and drops the rest, so that both ends of a connection are
 * checked. The hook sees forwarded traffic after services were translated: traffic from the node
 * itself to its pods (probes), and from pods to the node, never passes it. Replies always pass.
 * Packets in the direction in which a connection was opened are checked each time, so that a new
 * policy ends existing connections.
 */
export function buildPolicyTable(plan: readonly IsolatedPod[]): NftTable | undefined {
  if (plan.length === 0) return undefined
  const sets = new Map<string, NftSet>()
  const chains = new Map<string, NftChain>()
  const selves = new Map<string, string>()
  const verdicts = { ingress: new Map<string, string>(), egress: new Map<string, string>() }
  for (const pod of plan) {
    const name = chainOf(pod)
    selves.set(`${pod.address} . ${pod.address}`, '')
    verdicts[pod.direction].set(pod.address, `jump ${name}`)
    if (chains.has(name)) continue
    const peer = pod.direction === 'ingress' ? 'saddr' : 'daddr'
    const rules = new Set(pod.allowed.flatMap((allowed) => rulesOf(allowed, peer, sets)))
    chains.set(name, { rules: [...rules, 'drop'] })
  }
  const selfSet: NftSet = {
    type: 'set',
    declaration: 'typeof ip saddr . ip daddr;',
    elements: selves,
  }
  sets.set('selves', selfSet)
  sets.set('egress', verdictMap('saddr', verdicts.egress))
  sets.set('ingress', verdictMap('daddr', verdicts.ingress))
  chains.set('forward', {
    hook: 'type filter hook forward priority 0; policy accept;',
    rules: [
      'ct state related accept',
      'ct state established ct direction reply accept',
      'ip saddr . ip daddr @selves accept',
      'ip saddr vmap @egress',
      'ip daddr vmap @ingress',
    ],
  })
  return { name: policyTableName, sets, chains }
}

/** Removes the table, whether it exists or not. */
export function renderNoPolicies(): string {
  return `add table ip ${policyTableName}\ndelete table ip ${policyTableName}\n`
}

function verdictMap(field: 'saddr' | 'daddr', elements: ReadonlyMap<string, string>): NftSet {
  return { type: 'map', declaration: `typeof ip ${field} : verdict;`, elements }
}

function chainOf({ direction, allowed }: IsolatedPod): string {
  return `${direction}-${shortHash(JSON.stringify(allowed))}`
}

function rulesOf(
  { peers, ports }: AllowedTraffic,
  peer: 'saddr' | 'daddr',
  sets: Map<string, NftSet>,
): string[] {
  const from = peers?.flatMap((each) => peerMatch(each, peer, sets)) ?? ['']
  const to = ports?.flatMap((each) => portMatch(each, sets)) ?? ['']
  return from.flatMap((source) => to.map((port) => `${source}${port}return`))
}

function peerMatch(
  { addresses, except }: AllowedPeers,
  peer: 'saddr' | 'daddr',
  sets: Map<string, NftSet>,
): string[] {
  if (addresses.length === 0) return []
  const excluded = except.map((cidr) => `ip ${peer} != ${cidr} `).join('')
  const [first = ''] = addresses
  // A block is alone in its list and needs no set.
  if (first.includes('/')) return [`ip ${peer} ${first} ${excluded}`]
  return [`ip ${peer} @${addressSet(addresses, sets)} `]
}

function portMatch(
  { protocol, ports, addresses }: AllowedPorts,
  sets: Map<string, NftSet>,
): string[] {
  const at = addresses === undefined ? '' : `ip daddr @${addressSet(addresses, sets)} `
  if (ports === undefined) return [`${at}meta l4proto ${protocol} `]
  return ports.map((port) => `${at}${protocol} dport ${port} `)
}

/**
 * The set is named after its content: a changed selection is a new set, and no rule ever sees a
 * partial one.
 */
function addressSet(addresses: readonly string[], sets: Map<string, NftSet>): string {
  const name = `pods-${shortHash(addresses.join())}`
  const elements = new Map(addresses.map((address) => [address, '']))
  sets.set(name, { type: 'set', declaration: 'typeof ip saddr;', elements })
  return name
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}
