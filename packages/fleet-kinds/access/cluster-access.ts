import type { KubeObject, LabelSelectorFields, RbacV1Subject } from '@skerry/api'
import type { TypedResource } from '@skerry/client'

/**
 * A hub.skerry.io/v1alpha1 ClusterAccess: the users who may reach the clusters with these labels, and with
 * which verbs.
 */
export interface ClusterAccess extends KubeObject {
  spec: ClusterAccessSpec
}

export interface ClusterAccessSpec {
  subjects: RbacV1Subject[]
  /** An empty one selects every cluster. */
  clusterSelector: LabelSelectorFields
  /** The verbs of requests to a cluster; `*` for all. */
  verbs: string[]
  /** The verbs of requests to a cluster's services, which its agent must allow, too. If omitted, none. */
  serviceVerbs?: string[]
}

export const hubGroup = 'hub.skerry.io'

export const clusterAccessResource: TypedResource<ClusterAccess> = Object.freeze({
  group: hubGroup,
  version: 'v1alpha1',
  resource: 'clusteraccesses',
  isNamespaced: false,
})

/** The verbs of clusters/services, by which the hub authorizes a request to a cluster's services. */
export const clusterServiceVerbs: readonly string[] = Object.freeze([
  'get',
  'create',
  'update',
  'patch',
  'delete',
])

/** The verbs of clusters/proxy, by which the hub authorizes a request to a cluster. */
export const clusterVerbs: readonly string[] = Object.freeze([
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
])
