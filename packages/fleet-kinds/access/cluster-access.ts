import type { KubeObject, LabelSelectorFields, RbacV1Subject } from '@skerry/api'
import type { TypedResource } from '@skerry/client'

/** hub.skerry.io/v1alpha1 ClusterAccess: who may reach the clusters that have these labels, by which verbs. */
export interface ClusterAccess extends KubeObject {
  spec: ClusterAccessSpec
}

export interface ClusterAccessSpec {
  subjects: RbacV1Subject[]
  /** An empty one selects every cluster. */
  clusterSelector: LabelSelectorFields
  /** Of requests to a cluster; `*` for all. */
  verbs: string[]
  /** Of requests to a cluster's services, as far as its agent allows these; absent: none. */
  serviceVerbs?: string[]
}

export const hubGroup = 'hub.skerry.io'

export const clusterAccessResource: TypedResource<ClusterAccess> = Object.freeze({
  group: hubGroup,
  version: 'v1alpha1',
  resource: 'clusteraccesses',
  isNamespaced: false,
})

/** What a request to a cluster's services may be asked for on the hub: clusters/services by one of them. */
export const clusterServiceVerbs: readonly string[] = Object.freeze([
  'get',
  'create',
  'update',
  'patch',
  'delete',
])

/** What a request to a cluster may be asked for on the hub: clusters/proxy by one of them. */
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
