import type { KubeObject } from '@skerry/api'
import type { TypedResource } from '@skerry/client'

export const nodeGroup = 'node.skerry.io'

/** The side whose value stands where both have changed the same field. */
export type Winner = 'cloud' | 'edge' | 'newest'

/** A node.skerry.io/v1alpha1 OfflineWrites: what nodes accept for a control plane that is away. */
export interface OfflineWrites extends KubeObject {
  spec: OfflineWritesSpec
}

export interface OfflineWritesSpec {
  resources: OfflineResource[]
  namespaces: string[]
  /** The accounts of pods that may write. */
  serviceAccounts: OfflineAccount[]
  /** Default: cloud. */
  winner?: Winner
}

export interface OfflineResource {
  /** Empty or omitted for the core group. */
  apiGroup?: string
  resource: string
}

export interface OfflineAccount {
  namespace: string
  name: string
}

export const offlineWritesResource: TypedResource<OfflineWrites> = Object.freeze({
  group: nodeGroup,
  version: 'v1alpha1',
  resource: 'offlinewrites',
  isNamespaced: false,
})

/** One write, as far as policies look at it. */
export interface OfflineQuestion {
  readonly group: string
  readonly resource: string
  readonly namespace: string
  readonly account: OfflineAccount
}

/** A named policy as a node keeps it. */
export interface OfflinePolicy extends OfflineWritesSpec {
  readonly name: string
}

/** Returns the first policy, by name, that permits the write. */
export function policyFor(
  policies: readonly OfflinePolicy[],
  question: OfflineQuestion,
): OfflinePolicy | undefined {
  const { group, resource, namespace, account } = question
  return policies
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .find(
      ({ resources, namespaces, serviceAccounts }) =>
        namespaces.includes(namespace) &&
        resources.some((each) => each.resource === resource && (each.apiGroup ?? '') === group) &&
        serviceAccounts.some(
          (each) => each.name === account.name && each.namespace === account.namespace,
        ),
    )
}
