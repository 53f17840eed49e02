import type { NetworkedSandbox } from '../pods/pod-observer.ts'

/** One of the node's network interfaces. */
export interface HostLink {
  name: string
  /** The bridge that it is plugged into, or nothing. */
  master: string
  isUp: boolean
  /** The hardware address, e.g. 0a:58:0a:2a:00:01; empty if the device has none. */
  mac: string
  /** The addresses with prefix lengths, e.g. 10.42.0.1/24. */
  addresses: readonly string[]
}

export interface PodBridgeFacts {
  bridge: string
  podCidrs: readonly string[]
  /** Read before `links`, so that a missing link is one that was lost. */
  sandboxes: readonly NetworkedSandbox[]
  links: readonly HostLink[]
  /** The addresses that the address plugin counts as taken. */
  reserved: ReadonlySet<string>
}

/** The node carries the fields out in this order. */
export interface PodBridgePlan {
  readonly makeBridge: boolean
  /** The hardware address that the bridge must get; undefined if it has the right one. */
  readonly setMac: string | undefined
  readonly addAddresses: readonly string[]
  readonly raiseBridge: boolean
  /** The links that are not attached to the bridge. */
  readonly attach: readonly string[]
  readonly reserve: readonly { address: string; sandboxId: string }[]
  /** The sandboxes whose link is gone: only a new sandbox gets one. */
  readonly lost: readonly string[]
  /** The problems that only a person can solve. */
  readonly problems: readonly string[]
}

/** Decides what the pods' bridge lacks; touches nothing. */
export function planPodBridge(facts: PodBridgeFacts): PodBridgePlan {
  const { bridge, sandboxes, links } = facts
  const present = links.find(({ name }) => name === bridge)
  const gateways = facts.podCidrs.flatMap((cidr) => gatewayOf(cidr) ?? [])
  const mac = gateways[0] === undefined ? undefined : macOf(gateways[0])
  const problems = gateways.flatMap((gateway) => takenBy(gateway, facts))
  const byName = new Map(links.map((link) => [link.name, link]))
  const cabled = sandboxes.filter(({ hostLink }) => hostLink !== '')
  return {
    makeBridge: present === undefined,
    setMac: mac === present?.mac ? undefined : mac,
    addAddresses: gateways.filter((gateway) => !present?.addresses.includes(gateway)),
    raiseBridge: !present?.isUp,
    attach: cabled.flatMap(({ hostLink }) => {
      const link = byName.get(hostLink)
      return link && (present === undefined || link.master !== bridge || !link.isUp)
        ? [hostLink]
        : []
    }),
    reserve: sandboxes.flatMap(({ id, ips }) =>
      ips
        .filter((address) => !facts.reserved.has(address))
        .map((address) => ({ address, sandboxId: id })),
    ),
    lost: cabled.filter(({ hostLink }) => !byName.has(hostLink)).map(({ id }) => id),
    problems,
  }
}

export function isNothing(plan: PodBridgePlan): boolean {
  const { makeBridge, setMac, raiseBridge, addAddresses, attach, reserve } = plan
  if (makeBridge || setMac !== undefined || raiseBridge) return false
  return addAddresses.length + attach.length + reserve.length === 0
}

/**
 * A bridge without a hardware address of its own takes the lowest of its ports': it changes when a pod starts
 * or ends, and what the other pods then send through it is lost until they have learned the new one. Derived
 * from the IP address, it is also the same when the bridge has to be made again.
 */
function macOf(gateway: string): string {
  const octets = addressIn(gateway).split('.')
  return ['0a', '58', ...octets.map((one) => Number(one).toString(16).padStart(2, '0'))].join(':')
}

function takenBy(gateway: string, { bridge, links }: PodBridgeFacts): string[] {
  const address = addressIn(gateway)
  return links
    .filter(({ name }) => name !== bridge)
    .filter(({ addresses }) => addresses.some((one) => addressIn(one) === address))
    .map(
      ({ name }) =>
        `${address}, the pod network's own address, is on interface ${name}, too: remove it there`,
    )
}

function addressIn(withPrefix: string): string {
  return withPrefix.split('/')[0] ?? ''
}

/** The first address of the range, which the bridge plugin gives to the bridge. IPv4 only. */
function gatewayOf(cidr: string): string | undefined {
  const [base = '', prefix = ''] = cidr.split('/')
  const octets = base.split('.').map(Number)
  const [last] = octets.slice(-1)
  if (octets.length !== 4 || last === undefined) return undefined
  return `${[...octets.slice(0, 3), last + 1].join('.')}/${prefix}`
}
