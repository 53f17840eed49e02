import type { AnyObject } from '@skerry/api'
import { keyOfObject, type TypedResource } from '@skerry/client'
import { selected, watch, type ControllerContext, type Watch } from '@skerry/controller-runtime'
import { clusterResource, conditionTypes, type Cluster } from '../cluster/cluster.ts'
import { conditionOf } from '../cluster/conditions.ts'
import type { ResourceInterpreter } from '../interpreter/resource-interpreter.ts'
import { memberKey, type MemberCluster } from './member-cluster.ts'
import { manifestsOf, type Work } from './work.ts'

/** What both controllers of Works stand on. */
export interface WorkContext {
  readonly clusterName: string
  /** Of the agent's own execution namespace. */
  readonly works: TypedResource<Work>
  /** The agent's own. */
  readonly clusters: TypedResource<Cluster>
  readonly member: MemberCluster
  /** The object that a manifest means in the cluster. */
  readonly toMember: (manifest: AnyObject) => AnyObject
  readonly interpreter: ResourceInterpreter
}

const byManifest = 'manifest'

export function ownCluster(name: string): TypedResource<Cluster> {
  return selected(clusterResource, { fieldSelector: `metadata.name=${name}` })
}

/** Works that carry an object, whenever the cluster's own copy of it changes. */
export function watchMember({ works, member, toMember }: WorkContext): Watch {
  return {
    resource: works,
    subscribe(context, enqueue) {
      const informer = context.informer(works)
      informer.addIndex(byManifest, (work) =>
        manifestsOf(work).map((manifest) => memberKey(toMember(manifest))),
      )
      return member.onChange((key) => {
        for (const work of informer.byIndex(byManifest, key)) enqueue(keyOfObject(work))
      })
    },
  }
}

/** All Works, when the cluster becomes ready. */
export function watchReadiness({ works, clusters }: WorkContext): Watch {
  return watch(clusters, {
    keysOf: ({ type, object, old }, context) =>
      type !== 'deleted' && isReady(object) && !(old && isReady(old))
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
