import type { Node } from '@skerry/api'
import { StatusError, type GroupResource } from '@skerry/api'
import type { Objects } from '../../contract/objects.ts'
import { notFound } from '../../contract/status-answers.ts'
import { getTyped } from '../../contract/typed-objects.ts'
import { wellKnown } from '../../contract/well-known-resources.ts'
import type { NodeTarget } from './backend-dial.ts'

/** Addresses come first, because an edge rarely has DNS for its nodes. */
const addressTypes: readonly string[] = [
  'InternalIP',
  'ExternalIP',
  'Hostname',
  'InternalDNS',
  'ExternalDNS',
]
const kubeletPort = 10_250

/**
 * Returns the address of that node's kubelet. Throws NotFound, or an error if the node has no
 * address. A node that is missing on behalf of a pod is named in `missedAs`: upstream calls it a
 * pod.
 */
export function kubeletTarget(
  objects: Objects,
  nodeName: string,
  missedAs: GroupResource = wellKnown.nodes,
): NodeTarget {
  const node = getTyped<Node>(objects, wellKnown.nodes, { name: nodeName })
  if (!node) throw notFound(missedAs, nodeName)
  const addresses = node.status?.addresses ?? []
  const host = addressTypes
    .map((type) => addresses.find((address) => address.type === type)?.address)
    .find((address) => address !== undefined)
  if (host === undefined) {
    throw new StatusError(
      'InternalError',
      `no preferred addresses found; known addresses: ${JSON.stringify(addresses)}`,
    )
  }
  const port = node.status?.daemonEndpoints?.kubeletEndpoint?.Port || kubeletPort
  return { nodeName, host, port }
}
