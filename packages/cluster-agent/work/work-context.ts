import type { AnyObject } from '@skerry/api'
import { keyOfObject, type TypedResource } from '@skerry/client'
import { watch, type ControllerContext, type Watch } from '@skerry/controller-runtime'
import { conditionOf, conditionTypes, type Cluster } from '@skerry/fleet-kinds'
import { manifestsOf, type Work } from '@skerry/karmada-kinds'
import type { ResourceInterpreter } from '@skerry/interpreter'
import type { ManifestMapping } from './manifest-mapping.ts'
import { MappingRefusal } from './mapping-refusal.ts'
import { memberKey, type MemberCluster } from './member-cluster.ts'

/** The dependencies that both controllers of Works share. */
export interface WorkContext {
  readonly clusterName: string
  /** The Works of the agent's own execution namespace. */
  readonly works: TypedResource<Work>
  /** The agent's own. */
  readonly clusters: TypedResource<Cluster>
  readonly member: MemberCluster
  readonly mapping: ManifestMapping
  /** Called before an object is created or changed. If omitted, no preparation is needed. */
  readonly prepare?: (object: AnyObject, signal: AbortSignal) => Promise<void>
  readonly interpreter: ResourceInterpreter
}

const byManifest = 'manifest'

/** Enqueues the Works that carry an object, whenever the cluster's own copy of it changes. */
export function watchMember(shared: WorkContext): Watch {
  const { works, member } = shared
  return {
    resource: works,
    subscribe(context, enqueue) {
      const informer = context.informer(works)
      informer.addIndex(byManifest, (work) => placesOf(shared, work).map(memberKey))
      return member.onChange((key) => {
        for (const work of informer.byIndex(byManifest, key)) enqueue(keyOfObject(work))
      })
    },
  }
}

/** Returns the place of a manifest's object; undefined if it can have none in this cluster. */
export function placeOf(
  { mapping }: Pick<WorkContext, 'mapping'>,
  manifest: AnyObject,
): AnyObject | undefined {
  try {
    return mapping.placeOf(manifest)
  } catch (error) {
    if (error instanceof MappingRefusal) return undefined
    throw error
  }
}

/** Returns the places of a Work's objects. */
export function placesOf(shared: Pick<WorkContext, 'mapping'>, work: Work): AnyObject[] {
  return manifestsOf(work).flatMap((manifest) => placeOf(shared, manifest) ?? [])
}

/** Enqueues all Works when the cluster becomes ready. */
export function watchReadiness({ works, clusters, clusterName }: WorkContext): Watch {
  return watch(clusters, {
    keysOf: ({ type, object, old }, context) =>
      type !== 'deleted' &&
      object.metadata.name === clusterName &&
      isReady(object) &&
      !(old && isReady(old))
        ? context.informer(works).list().map(keyOfObject)
        : [],
  })
}

export function isReady({ status }: Cluster): boolean {
  return conditionOf(status?.conditions, conditionTypes.ready)?.status === 'True'
}

/** The agent's own Cluster as the control plane has it. */
export function clusterOf(
  { clusters, clusterName }: WorkContext,
  context: ControllerContext,
): Cluster {
  const cluster = context.informer(clusters).get({ name: clusterName })
  if (cluster) return cluster
  throw new Error(`Cannot apply Works: cluster "${clusterName}" is not registered`)
}
