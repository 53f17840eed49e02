import type { Taint } from '@skerry/api'
import { useWatched } from '../../data/streams/console-context.tsx'
import type { ListView } from '../../data/streams/watched-list.ts'

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

/** Watches the cluster's own object at the hub. */
export function useClusterObject(name: string): {
  object: ClusterObject | undefined
  view: ListView
} {
  const selector = encodeURIComponent(`metadata.name=${name}`)
  const view = useWatched(`/apis/cluster.karmada.io/v1alpha1/clusters?fieldSelector=${selector}`)
  // The hub's own kind.
  const object = view.items.get(`/${name}`) as ClusterObject | undefined
  return { object, view }
}

/** Reports whether a condition says that something is wrong: of these types, `True` is the good state. */
export function isTrouble({ status }: ClusterCondition): boolean {
  return status !== 'True'
}
