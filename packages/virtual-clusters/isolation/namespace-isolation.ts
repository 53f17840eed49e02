import type { AnyObject } from '@skerry/api'
import { isolationName, virtualNamespaceLabels } from '@skerry/fleet-kinds'
import { namespaceNameLabel } from '../mapping/member-names.ts'

export interface NamespaceIsolationOptions {
  readonly clusterName: string
  /** As the edge cluster calls it. */
  readonly namespace: string
  /** Whether pods are reached from their own virtual cluster only. */
  readonly closedNetwork?: boolean
  /** Namespaces of the edge cluster that reach the pods all the same. Default: kube-system. */
  readonly openTo?: readonly string[]
  /** `{ 'requests.memory': '4Gi' }`: what this namespace may have, as of a ResourceQuota's `hard`. */
  readonly quota?: Readonly<Record<string, string>>
}

/** What an agent keeps in each namespace of a virtual cluster; empty where nothing is asked for. */
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

/** What pods send is free: names, the outside; whoever they send to decides, as these do. */
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
