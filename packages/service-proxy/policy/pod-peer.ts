import type { AnyObject, KubeObject, Pod } from '@skerry/api'
import type { TypedResource } from '@skerry/client'

/**
 * What nodes learn of each other's pods: enough to keep NetworkPolicies, and nothing of what a pod
 * runs, mounts or has in its environment. Read only; made from the pod each time it is read.
 */
export interface PodPeer extends KubeObject {
  /** Absent before the pod is bound. */
  nodeName?: string
  /** Absent while the pod has none of its own: before it has one, after its end, in its node's network. */
  address?: string
  /** Only ports with a name: policies give the numbers of others themselves. */
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

/** Turns a decoded pod into its peer, in place: nothing else of the pod stays. Idempotent. */
export function reduceToPeer(object: AnyObject): void {
  if (object.kind === podPeerKind) return
  // The registry hands this only what is stored as a pod.
  const peer = peerOf(object as unknown as Pod)
  for (const field of Object.keys(object)) if (field !== 'apiVersion') delete object[field]
  Object.assign(object, peer, { apiVersion: object.apiVersion })
}

/** A pod that has ended may have given its address to another. */
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
