import type { AnyObject, KubeObject } from '@skerry/api'
import type { TypedResource } from '@skerry/client'
import type { ClusterCondition } from '@skerry/fleet-kinds'

/** A work.karmada.io/v1alpha1 Work: objects that one cluster should have. */
export interface Work extends KubeObject {
  spec: WorkSpec
  status?: WorkStatus
}

export interface WorkSpec {
  /** Each has an apiVersion, a kind and a name, which the kind's strategy has checked. */
  workload?: { manifests?: AnyObject[] }
  /** Objects are neither created nor changed; their status is still reported. */
  suspendDispatching?: boolean
  /** When the Work is deleted, its objects are left to the cluster. */
  preserveResourcesOnDeletion?: boolean
}

export interface WorkStatus {
  conditions?: ClusterCondition[]
  manifestStatuses?: ManifestStatus[]
}

/** Reported for each object of a Work, and aggregated by bindings. */
export type ResourceHealth = 'Healthy' | 'Unhealthy' | 'Unknown'

export interface ManifestStatus {
  identifier: ManifestIdentifier
  status?: Record<string, unknown>
  health?: ResourceHealth
}

/** Identifies the manifest as it is in the Work. */
export interface ManifestIdentifier {
  ordinal: number
  group?: string
  version: string
  kind: string
  resource: string
  namespace?: string
  name: string
}

export const workResource: TypedResource<Work> = Object.freeze({
  group: 'work.karmada.io',
  version: 'v1alpha1',
  resource: 'works',
  isNamespaced: true,
})

export const workConditions = Object.freeze({ applied: 'Applied', dispatching: 'Dispatching' })

export function manifestsOf({ spec }: Work): readonly AnyObject[] {
  return spec.workload?.manifests ?? []
}
