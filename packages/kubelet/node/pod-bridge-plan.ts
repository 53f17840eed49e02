import type { NetworkedSandbox } from '../pods/pod-observer.ts'

/** One of the node's network interfaces. */
export interface HostLink {
  name: string
  /** The bridge that it is plugged into, or nothing. */
  master: string
  isUp: boolean
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
  const problems = gateways.flatMap((gateway) => takenBy(gateway, facts))
  const byName = new Map(links.map((link) => [link.name, link]))
  const cabled = sandboxes.filter(({ hostLink }) => hostLink !== '')
  return {
    makeBridge: present === undefined,
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
  const { makeBridge, raiseBridge, addAddresses, attach, reserve } = plan
  return !makeBridge && !raiseBridge && addAddresses.length + attach.length + reserve.length === 0
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
