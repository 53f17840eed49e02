import type { KubeObject, Taint } from '@skerry/api'
import type { TypedResource } from '@skerry/client'

/** A cluster.karmada.io/v1alpha1 Cluster: one edge cluster, as Karmada defines it. */
export interface Cluster extends KubeObject {
  spec: ClusterSpec
  status?: ClusterStatus
}

export interface ClusterSpec {
  /** The UID of the cluster's kube-system namespace: no two Clusters may be the same cluster. */
  id?: string
  syncMode: 'Push' | 'Pull'
  apiEndpoint?: string
  secretRef?: SecretReference
  impersonatorSecretRef?: SecretReference
  insecureSkipTLSVerification?: boolean
  proxyURL?: string
  proxyHeader?: Record<string, string>
  provider?: string
  region?: string
  zone?: string
  zones?: string[]
  taints?: Taint[]
  resourceModels?: ResourceModel[]
}

export interface SecretReference {
  namespace?: string
  name?: string
}

export interface ResourceModel {
  grade: number
  ranges: { name: string; min: string; max: string }[]
}

export interface ClusterStatus {
  kubernetesVersion?: string
  apiEnablements?: ApiEnablement[]
  conditions?: ClusterCondition[]
  nodeSummary?: NodeSummary
  resourceSummary?: ResourceSummary
  remedyActions?: string[]
}

export interface ApiEnablement {
  groupVersion: string
  resources?: { name: string; kind: string }[]
}

/** A metav1.Condition. */
export interface ClusterCondition {
  type: string
  status: 'True' | 'False' | 'Unknown'
  reason: string
  message: string
  lastTransitionTime: string
  observedGeneration?: number
}

export interface NodeSummary {
  totalNum?: number
  readyNum?: number
}

export interface ResourceSummary {
  allocatable?: Record<string, string>
  allocating?: Record<string, string>
  allocated?: Record<string, string>
  allocatableModelings?: { grade: number; count: number }[]
}

export const clusterResource: TypedResource<Cluster> = Object.freeze({
  group: 'cluster.karmada.io',
  version: 'v1alpha1',
  resource: 'clusters',
  isNamespaced: false,
})

/** Holds the leases of all clusters, and the secrets of those that are pushed to. */
export const clusterNamespace = 'karmada-cluster'

/** Returns the namespace in which a cluster's agent finds its Works. */
export function executionNamespace(clusterName: string): string {
  return `karmada-es-${clusterName}`
}

/** The types of conditions: Karmada's, written by the agent, and the hub's own, Connected. */
export const conditionTypes = Object.freeze({
  ready: 'Ready',
  completeApis: 'CompleteAPIEnablements',
  connected: 'Connected',
})

/** The annotation of a Cluster with the end of the certificate that its API server shows its agent; RFC 3339. */
export const apiCertificateExpiresAnnotation = 'hub.skerry.io/api-certificate-expires'

/** The annotation of a Cluster; with `false`, its agent does not apply Works, so nothing can be placed there. */
export const appliesWorksAnnotation = 'hub.skerry.io/applies-works'
