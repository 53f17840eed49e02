import type { AnyObject, KubeObject, Pod } from '@skerry/api'
import type { TypedResource } from '@skerry/client'

/**
 * The part of a pod that other nodes may see: enough to enforce NetworkPolicies, and nothing of
 * what a pod runs, mounts or has in its environment. Read-only; derived from the pod on each read.
 */
export interface PodPeer extends KubeObject {
  /** Omitted before the pod is bound. */
  nodeName?: string
  /**
   * Omitted while the pod has no address of its own: before it gets one, after its end, and in its
   * node's network.
   */
  address?: string
  /** Named ports only: policies contain the numbers of others themselves. */
  ports?: PeerPort[]
}

export interface PeerPort {
  name: string
  protocol: string
  port: number
}

export const podPeers: TypedResource<PodPeer> = Object.freeze({
  group: 'node.skerry.io',
  version: 'v1alpha1',
  resource: 'pods',
  isNamespaced: true,
})

export const podPeerKind = 'PodPeer'

export function peerOf(pod: Pod): PodPeer {
  const { name, namespace, uid, labels, resourceVersion, creationTimestamp } = pod.metadata
  const address = ownAddressOf(pod)
  const ports = namedPorts(pod)
  return {
    apiVersion: `${podPeers.group}/${podPeers.version}`,
    kind: podPeerKind,
    metadata: { name, namespace, uid, labels, resourceVersion, creationTimestamp },
    ...(pod.spec?.nodeName ? { nodeName: pod.spec.nodeName } : {}),
    ...(address === undefined ? {} : { address }),
    ...(ports.length === 0 ? {} : { ports }),
  }
}

/** Reduces a decoded pod to its peer, in place; nothing else of the pod remains. Idempotent. */
export function reduceToPeer(object: AnyObject): void {
  if (object.kind === podPeerKind) return
  // The registry calls this only with stored pods.
  const peer = peerOf(object as unknown as Pod)
  for (const field of Object.keys(object)) if (field !== 'apiVersion') delete object[field]
  Object.assign(object, peer, { apiVersion: object.apiVersion })
}

/** The address of a finished pod may belong to another pod. */
function ownAddressOf({ spec, status }: Pod): string | undefined {
  if (spec?.hostNetwork === true) return undefined
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return undefined
  return status?.podIP === '' ? undefined : status?.podIP
}

function namedPorts({ spec }: Pod): PeerPort[] {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]
  return containers.flatMap(({ ports = [] }) =>
    ports.flatMap(({ name, protocol = 'TCP', containerPort }) =>
      name ? [{ name, protocol, port: containerPort }] : [],
    ),
  )
}
