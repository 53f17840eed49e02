import type { Taint } from '@skerry/api'
import { useWatchedObject } from '../../data/streams/use-watched-object.ts'

/** A cluster.karmada.io/v1alpha1 Cluster, as far as it is shown. */
export interface ClusterObject {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> }
  readonly spec: { readonly taints?: readonly Taint[] }
  readonly status?: {
    readonly conditions?: readonly ClusterCondition[]
    readonly resourceSummary?: {
      readonly allocatable?: Readonly<Record<string, string>>
      readonly allocated?: Readonly<Record<string, string>>
    }
  }
}

interface ClusterCondition {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
  readonly lastTransitionTime: string
}

const clusters = { group: 'cluster.karmada.io', version: 'v1alpha1', resource: 'clusters' }

/** Watches the cluster's own object at the hub. */
export function useClusterObject(name: string) {
  return useWatchedObject<ClusterObject>({ ...clusters, name })
}

/** Reports whether a condition says that something is wrong: of these types, `True` is the good state. */
export function isTrouble({ status }: ClusterCondition): boolean {
  return status !== 'True'
}
