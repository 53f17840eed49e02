import type { Namespace } from '@skerry/api'
import { MappingRefusal } from '@skerry/cluster-agent'
import { karmadaKeys } from '@skerry/karmada-kinds'
import { virtualNamespaceLabels, type VirtualGroup } from '@skerry/fleet-kinds'

/**
 * Returns the namespace of the edge cluster for one of a virtual cluster's own, which is created when an
 * object is first placed there. A Work that brings the namespace itself takes it over. Throws MappingRefusal
 * for a name that a virtual cluster cannot have.
 */
export function memberNamespace(group: VirtualGroup, namespace: string): Namespace {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name: group.namespaces.toMember(namespace),
      labels: {
        [karmadaKeys.managed]: 'true',
        [virtualNamespaceLabels.cluster]: group.clusterName,
        [virtualNamespaceLabels.namespace]: namespace,
      },
    },
  }
}

/**
 * Throws MappingRefusal of a namespace that is there and is not this virtual cluster's, or is going:
 * nothing may be put into it.
 */
export function expectOwnNamespace({ metadata, status }: Namespace, clusterName: string): void {
  const { name = '', labels, deletionTimestamp } = metadata
  const owner = labels?.[virtualNamespaceLabels.cluster]
  if (owner !== clusterName) {
    const whose = owner === undefined ? "the edge cluster's own" : `virtual cluster "${owner}"'s`
    throw new MappingRefusal(
      `namespace "${name}" of the edge cluster is ${whose}: delete it there, or give virtual clusters another pattern of names`,
    )
  }
  if (deletionTimestamp !== undefined || status?.phase === 'Terminating') {
    throw new MappingRefusal(`namespace "${name}" of the edge cluster is being deleted`)
  }
}
