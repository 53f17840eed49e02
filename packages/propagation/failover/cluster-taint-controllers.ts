import { equalJson, type Taint } from '@skerry/api'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
} from '@skerry/controller-runtime'
import { clusterResource, type Cluster } from '@skerry/fleet-kinds'
import { matchesAffinity, clusterTaintPolicyResource } from '@skerry/karmada-kinds'
import { taintsByPolicies, taintsByReadiness, taintsText } from './plan-taints.ts'

/** Keeps new objects away from clusters that are not ready, or not heard of. */
export const clusterReadinessTaints: ControllerDefinition = {
  name: 'cluster-readiness-taints',
  watches: [
    watch(clusterResource, {
      keysOf: ({ type, object }) => (type === 'deleted' ? [] : [object.metadata.name ?? '']),
    }),
  ],
  async reconcile(name, context, signal) {
    const cluster = context.informer(clusterResource).get({ name })
    if (cluster === undefined || cluster.metadata.deletionTimestamp !== undefined) return
    const taints = taintsByReadiness(cluster, context.clock.now())
    const said = (text: string): string => `Taint cluster succeed: ${text}.`
    await writeTaints(cluster, { taints, said }, context, signal)
  },
}

/**
 * Taints clusters as ClusterTaintPolicies define; a taint that a person removes stays off until a condition
 * changes.
 */
export const clusterTaintPolicyController: ControllerDefinition = {
  name: 'cluster-taint-policy-controller',
  watches: [
    watch(clusterResource, {
      keysOf: ({ type, object, old }) =>
        type === 'deleted' ||
        (type === 'updated' && equalJson(conditionsOf(object), conditionsOf(old)))
          ? []
          : [object.metadata.name ?? ''],
    }),
    watch(clusterTaintPolicyResource, {
      keysOf: ({ type, object, old }, context) =>
        type === 'deleted' || (type === 'updated' && equalJson(object.spec, old.spec))
          ? []
          : context
              .informer(clusterResource)
              .list()
              .filter((cluster) => matchesAffinity(cluster, object.spec.targetClusters))
              .map(({ metadata }) => metadata.name ?? ''),
    }),
  ],
  async reconcile(name, context, signal) {
    const cluster = context.informer(clusterResource).get({ name })
    if (cluster === undefined) return
    const policies = context.informer(clusterTaintPolicyResource).list()
    const taints = taintsByPolicies(cluster, policies, context.clock.now())
    const said = (text: string): string => `Update Cluster(${name}) with taints(${text}) succeed`
    await writeTaints(cluster, { taints, said }, context, signal)
  },
}

function conditionsOf({ status }: Cluster): unknown[] {
  return status?.conditions ?? []
}

interface Tainting {
  readonly taints: readonly Taint[]
  /** The event's message, with what the taints are now. */
  readonly said: (text: string) => string
}

/** Rejects with Conflict where the cluster was changed meanwhile, to be called again. */
async function writeTaints(
  cluster: Cluster,
  { taints, said }: Tainting,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  if (equalJson(taints, cluster.spec.taints ?? [])) return
  const { name = '', resourceVersion } = cluster.metadata
  const patch = {
    metadata: { resourceVersion },
    spec: { taints: taints.length === 0 ? null : taints },
  }
  await context.client(clusterResource).patch({ name, type: 'merge', patch }, signal)
  const message = said(taintsText(taints))
  context.events.event(cluster, { type: 'Normal', reason: 'TaintClusterSucceed', message })
}
