import type { AnyObject } from '@skerry/api'
import { isolationName, virtualNamespaceLabels } from '@skerry/fleet-kinds'
import { namespaceNameLabel } from '../mapping/member-names.ts'

export interface NamespaceIsolationOptions {
  readonly clusterName: string
  /** The namespace's name in the edge cluster. */
  readonly namespace: string
  /** Whether pods are reachable from their own virtual cluster only. */
  readonly closedNetwork?: boolean
  /** Namespaces of the edge cluster that may reach the pods anyway. Default: kube-system. */
  readonly openTo?: readonly string[]
  /** The limits of this namespace, as in a ResourceQuota's `hard`: `{ 'requests.memory': '4Gi' }`. */
  readonly quota?: Readonly<Record<string, string>>
}

/** Returns the objects that an agent keeps in each namespace of a virtual cluster; none if no option is set. */
export function namespaceIsolation(options: NamespaceIsolationOptions): AnyObject[] {
  const { clusterName, namespace, closedNetwork = false, quota = {} } = options
  const metadata = {
    name: isolationName,
    namespace,
    labels: { [virtualNamespaceLabels.cluster]: clusterName },
  }
  return [
    ...(closedNetwork ? [closedPolicy(metadata, options)] : []),
    ...(Object.keys(quota).length > 0
      ? [{ apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: { hard: { ...quota } } }]
      : []),
  ]
}

/**
 * Closes the network to connections from outside. Pods may send anywhere (DNS, the internet): the receiver's
 * own policies decide about that.
 */
function closedPolicy(
  metadata: AnyObject['metadata'],
  { clusterName, openTo = ['kube-system'] }: NamespaceIsolationOptions,
): AnyObject {
  const own = { matchLabels: { [virtualNamespaceLabels.cluster]: clusterName } }
  const from = [
    { namespaceSelector: own },
    ...openTo.map((name) => ({
      namespaceSelector: { matchLabels: { [namespaceNameLabel]: name } },
    })),
  ]
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata,
    spec: { podSelector: {}, policyTypes: ['Ingress'], ingress: [{ from }] },
  }
}
