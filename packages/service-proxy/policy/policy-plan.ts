import { isIPv4 } from 'node:net'
import {
  labelSelectorOf,
  type Namespace,
  type NetworkPolicy,
  type NetworkPolicyPeer,
  type NetworkPolicyPort,
} from '@skerry/api'
import type { PodPeer } from './pod-peer.ts'

export type Direction = 'ingress' | 'egress'

/** The node's knowledge of its cluster when it plans, with the pods of every node. */
export interface PolicyWorld {
  readonly policies: readonly NetworkPolicy[]
  readonly namespaces: readonly Namespace[]
  readonly pods: readonly PodPeer[]
}

/** The traffic that one rule of a policy allows. Empty lists allow nothing. */
export interface AllowedTraffic {
  /** The allowed peers; undefined means all. */
  readonly peers: readonly AllowedPeers[] | undefined
  /** The allowed ports; undefined means every port of every protocol. */
  readonly ports: readonly AllowedPorts[] | undefined
}

/** One block without its exceptions, or the addresses of pods. */
export interface AllowedPeers {
  readonly addresses: readonly string[]
  readonly except: readonly string[]
}

/** Ports on the receiving side. If `ports` is undefined, all of the protocol. */
export interface AllowedPorts {
  readonly protocol: 'tcp' | 'udp' | 'sctp'
  readonly ports: readonly string[] | undefined
  /** For named ports of egress, the peers with that port. If undefined, every peer. */
  readonly addresses: readonly string[] | undefined
}

/** A pod of this node that policies isolate in one direction. */
export interface IsolatedPod {
  readonly address: string
  readonly direction: Direction
  readonly allowed: readonly AllowedTraffic[]
}

/**
 * Plans what policies mean for the pods of one node. A pod that no policy selects in a direction is
 * not in the plan; any other gets the traffic that its policies together allow. Pods in the node's
 * own network are neither isolated nor peers, because their address is the node's. IPv4 only.
 */
export function planPolicies(world: PolicyWorld, nodeName: string): IsolatedPod[] {
  const labelsOf = new Map(
    world.namespaces.map(({ metadata }) => [metadata.name ?? '', metadata.labels ?? {}]),
  )
  const pods = world.pods.filter(hasAddress)
  const chosen: Scene['chosen'] = new Map()
  const isolated: IsolatedPod[] = []
  for (const pod of pods) {
    if (pod.nodeName !== nodeName) continue
    const selecting = world.policies.filter((policy) => selects(policy, pod))
    for (const direction of ['ingress', 'egress'] as const) {
      const judging = selecting.filter((policy) => typesOf(policy).includes(direction))
      if (judging.length === 0) continue
      const scene = { pod, pods, labelsOf, chosen, direction }
      const allowed = judging.flatMap((policy) => allowedBy(policy, scene))
      isolated.push({ address: addressOf(pod), direction, allowed })
    }
  }
  return isolated.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

/** Returns true if the plan isolates this pod on its node. */
export function isSelected(policies: readonly NetworkPolicy[], pod: PodPeer): boolean {
  return policies.some((policy) => selects(policy, pod))
}

interface Scene {
  pod: PodPeer
  pods: readonly PodPeer[]
  labelsOf: ReadonlyMap<string, Record<string, string>>
  /**
   * Chosen peers by namespace, filled on demand: a rule chooses the same for every pod that its
   * policy selects.
   */
  chosen: Map<string, Map<NetworkPolicyPeer, AllowedPeers>>
  direction: Direction
}

function keyOf({ address, direction }: IsolatedPod): string {
  return `${address} ${direction}`
}

function hasAddress(pod: PodPeer): boolean {
  return isIPv4(addressOf(pod))
}

function addressOf(pod: PodPeer): string {
  return pod.address ?? ''
}

function selects(policy: NetworkPolicy, pod: PodPeer): boolean {
  if (policy.metadata.namespace !== pod.metadata.namespace) return false
  // A policy without a selector selects every pod of its namespace, as one with an empty selector
  // does.
  return labelSelectorOf(policy.spec?.podSelector ?? {}).matches(pod.metadata.labels ?? {})
}

/** Without policyTypes, the direction is always ingress, and egress only if there are rules for it. */
function typesOf({ spec }: NetworkPolicy): Direction[] {
  const types = spec?.policyTypes ?? []
  if (types.length === 0)
    return (spec?.egress ?? []).length > 0 ? ['ingress', 'egress'] : ['ingress']
  return (['ingress', 'egress'] as const).filter((direction) =>
    types.some((type) => type.toLowerCase() === direction),
  )
}

function allowedBy(policy: NetworkPolicy, scene: Scene): AllowedTraffic[] {
  const namespace = policy.metadata.namespace ?? ''
  const rules =
    scene.direction === 'ingress'
      ? (policy.spec?.ingress ?? []).map(({ from, ports }) => ({ peers: from, ports }))
      : (policy.spec?.egress ?? []).map(({ to, ports }) => ({ peers: to, ports }))
  return rules.map(({ peers, ports }) => ({
    peers:
      peers === undefined || peers.length === 0
        ? undefined
        : peers.map((peer) => peersOf(peer, namespace, scene)),
    ports:
      ports === undefined || ports.length === 0
        ? undefined
        : ports.flatMap((port) => portsOf(port, scene)),
  }))
}

function peersOf(peer: NetworkPolicyPeer, namespace: string, scene: Scene): AllowedPeers {
  const chosen = scene.chosen.get(namespace) ?? new Map<NetworkPolicyPeer, AllowedPeers>()
  scene.chosen.set(namespace, chosen)
  const peers = chosen.get(peer) ?? choosePeers(peer, namespace, scene)
  chosen.set(peer, peers)
  return peers
}

function choosePeers(peer: NetworkPolicyPeer, namespace: string, scene: Scene): AllowedPeers {
  if (peer.ipBlock !== undefined) {
    return {
      addresses: [peer.ipBlock.cidr].filter(isIpv4Block),
      except: (peer.ipBlock.except ?? []).filter(isIpv4Block),
    }
  }
  const isIn = namespaceTest(peer.namespaceSelector, namespace, scene.labelsOf)
  const selector = labelSelectorOf(peer.podSelector ?? {})
  const chosen = scene.pods.filter(
    ({ metadata }) => isIn(metadata.namespace ?? '') && selector.matches(metadata.labels ?? {}),
  )
  return { addresses: chosen.map(addressOf).toSorted(), except: [] }
}

/** IPv6 blocks do not apply to pods, which have no IPv6 address. */
function isIpv4Block(cidr: string): boolean {
  const [address = '', length = ''] = cidr.split('/')
  return isIPv4(address) && /^\d{1,2}$/.test(length)
}

function namespaceTest(
  selector: NetworkPolicyPeer['namespaceSelector'],
  own: string,
  labelsOf: Scene['labelsOf'],
): (namespace: string) => boolean {
  if (selector === undefined) return (namespace) => namespace === own
  const chosen = labelSelectorOf(selector)
  return (namespace) => {
    const labels = labelsOf.get(namespace)
    return labels !== undefined && chosen.matches(labels)
  }
}

function portsOf(allowed: NetworkPolicyPort, scene: Scene): AllowedPorts[] {
  const protocol = protocolOf(allowed.protocol)
  if (protocol === undefined) return []
  const { port, endPort } = allowed
  if (port === undefined) return [{ protocol, ports: undefined, addresses: undefined }]
  if (typeof port === 'number') {
    const range = endPort === undefined || endPort === port ? `${port}` : `${port}-${endPort}`
    return [{ protocol, ports: [range], addresses: undefined }]
  }
  if (scene.direction === 'ingress')
    return [{ protocol, ports: namedPorts(scene.pod, port, protocol), addresses: undefined }]
  return scene.pods.flatMap((pod) => {
    const ports = namedPorts(pod, port, protocol)
    return ports.length === 0 ? [] : [{ protocol, ports, addresses: [addressOf(pod)] }]
  })
}

function protocolOf(name: string | undefined): AllowedPorts['protocol'] | undefined {
  const known: Record<string, AllowedPorts['protocol']> = { TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' }
  return known[name ?? 'TCP']
}

function namedPorts(pod: PodPeer, name: string, protocol: AllowedPorts['protocol']): string[] {
  const found = (pod.ports ?? []).filter(
    (port) => port.name === name && protocolOf(port.protocol) === protocol,
  )
  return [...new Set(found.map(({ port }) => `${port}`))].toSorted()
}
