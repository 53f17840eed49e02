import { isIPv4 } from 'node:net'
import type { DrillFinding } from './drill-plan.ts'

/** One address of an API server. */
export interface ServerAddress {
  readonly address: string
  readonly port: number
}

export const drillTable = 'skerry_drill'

/**
 * Returns the script of nft that cuts the machine off from its API servers, in both directions, and them from its kubelet. A
 * timer of the kernel removes the addresses. Other ways to the same hosts, such as a shell of the operator, stay open.
 */
export function planCutTable(
  servers: readonly ServerAddress[],
  { kubeletPort, forMs }: { kubeletPort: number; forMs: number },
): string {
  const ends = `timeout ${Math.ceil(forMs)}ms`
  const families = [
    { ip: 'ip', type: 'ipv4_addr', of: servers.filter(({ address }) => isIPv4(address)) },
    { ip: 'ip6', type: 'ipv6_addr', of: servers.filter(({ address }) => !isIPv4(address)) },
  ].filter(({ of }) => of.length > 0)
  const sets = families.flatMap(({ ip, type, of }) => {
    const ports = of.map(({ address, port }) => `${address} . ${port} ${ends}`)
    const hosts = [...new Set(of.map(({ address }) => address))].map((each) => `${each} ${ends}`)
    return [
      `  set ${ip}_ports { type ${type} . inet_service; flags timeout; elements = { ${ports.join(', ')} } }`,
      `  set ${ip}_hosts { type ${type}; flags timeout; elements = { ${hosts.join(', ')} } }`,
    ]
  })
  return [
    `create table inet ${drillTable}`,
    `table inet ${drillTable} {`,
    ...sets,
    '  chain arriving {',
    '    type filter hook prerouting priority -310; policy accept;',
    ...families.flatMap(({ ip }) => [
      `    ${ip} saddr . tcp sport @${ip}_ports drop`,
      `    ${ip} saddr @${ip}_hosts tcp dport ${kubeletPort} drop`,
    ]),
    '  }',
    '  chain leaving {',
    '    type filter hook postrouting priority 310; policy accept;',
    ...families.flatMap(({ ip }) => [
      `    ${ip} daddr . tcp dport @${ip}_ports drop`,
      `    ${ip} daddr @${ip}_hosts tcp sport ${kubeletPort} drop`,
    ]),
    '  }',
    '}',
    '',
  ].join('\n')
}

/** A running container of a pod. */
export interface SeenContainer {
  readonly id: string
  /** `<namespace>/<name>` of its pod. */
  readonly pod: string
  readonly name: string
}

/** One look at the node. Times are milliseconds since the cut began. */
export interface Look {
  readonly atMs: number
  /** Undefined if containerd did not answer. */
  readonly running: readonly SeenContainer[] | undefined
  /** Undefined if the node serves no API. */
  readonly hasLocalApi: boolean | undefined
  readonly hasDns: boolean
  readonly reachesControlPlane: boolean
}

export interface CutStory {
  readonly before: Look
  readonly during: readonly Look[]
  readonly after: readonly Look[]
  /** From the end of the cut until the control plane had a new renewal of the node's lease. Undefined if it had none in time. */
  readonly leaseMs: number | undefined
}

/** Returns what the cut did to the node, to its DNS and API, and to each of its pods. */
export function judgeCut({ before, during, after, leaseMs }: CutStory): DrillFinding[] {
  const looks = [...during, ...after]
  const pods = [...new Set((before.running ?? []).map(({ pod }) => pod))].toSorted()
  return [
    judged('node', nodeReasons({ before, during, after, leaseMs })),
    ...(before.hasDns
      ? [
          judged(
            'DNS',
            missed(looks, ({ hasDns }) => hasDns, 'it gave no answer'),
          ),
        ]
      : []),
    ...(before.hasLocalApi === undefined
      ? []
      : [
          judged(
            'local API',
            missed(looks, (look) => look.hasLocalApi === true, 'it gave no answer'),
          ),
        ]),
    ...pods.map((pod) => judged(pod, podReasons(pod, before, looks))),
  ]
}

interface Reason {
  readonly result: 'in part' | 'breaks'
  readonly text: string
}

function judged(subject: string, found: readonly Reason[]): DrillFinding {
  const isBroken = found.some(({ result }) => result === 'breaks')
  const result = isBroken ? 'breaks' : found.length > 0 ? 'in part' : 'goes on'
  return { subject, result, reasons: found.map(({ text }) => text) }
}

function nodeReasons({ before, during, leaseMs }: CutStory): Reason[] {
  const reasons: Reason[] = []
  if (!before.reachesControlPlane) {
    reasons.push({ result: 'in part', text: 'it did not reach its control plane before the cut' })
  }
  if (during.some(({ reachesControlPlane }) => reachesControlPlane)) {
    reasons.push({
      result: 'in part',
      text: 'it reached its control plane during the cut, by another address',
    })
  }
  if (during.some(({ running }) => running === undefined)) {
    reasons.push({
      result: 'in part',
      text: 'containerd did not answer: containers are not known for a while',
    })
  }
  if (leaseMs === undefined) {
    reasons.push({ result: 'breaks', text: 'its lease was not renewed in time after the cut' })
  }
  return reasons
}

function missed(looks: readonly Look[], isGood: (look: Look) => boolean, text: string): Reason[] {
  const bad = looks.filter((look) => !isGood(look))
  const [first] = bad
  if (!first) return []
  const share = `${bad.length} of ${looks.length} times, first ${secondsOf(first.atMs)} after the cut began`
  return [{ result: bad.length === looks.length ? 'breaks' : 'in part', text: `${text} ${share}` }]
}

function podReasons(pod: string, before: Look, looks: readonly Look[]): Reason[] {
  const known = looks.filter(({ running }) => running !== undefined)
  const own = (before.running ?? []).filter((each) => each.pod === pod)
  return own.flatMap(({ id, name }) => {
    const ended = known.find(({ running = [] }) => !running.some((each) => each.id === id))
    if (!ended) return []
    const again = known.find(
      ({ atMs, running = [] }) =>
        atMs >= ended.atMs &&
        running.some((each) => each.pod === pod && each.name === name && each.id !== id),
    )
    const when = `${secondsOf(ended.atMs)} after the cut began`
    const then = again ? `and runs again since ${secondsOf(again.atMs)}` : 'and does not run again'
    return [{ result: 'breaks' as const, text: `container ${name} ended ${when}, ${then}` }]
  })
}

function secondsOf(ms: number): string {
  return `${Math.round(ms / 1_000)} s`
}
