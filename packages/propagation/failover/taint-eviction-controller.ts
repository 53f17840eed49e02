import { keyOfObject, parseKey, type TypedResource } from '@skerry/client'
import { watch, type ControllerDefinition } from '@skerry/controller-runtime'
import type { ResourceBinding, PurgeMode } from '@skerry/karmada-kinds'
import { clusterResource, type Cluster } from '@skerry/fleet-kinds'
import { isTarget } from '../placement/workload.ts'
import { evictCluster, recordEvictions, writeEviction, type EvictedSpec } from './evict-cluster.ts'
import { planTaintEviction } from './plan-taint-eviction.ts'
import { preservedState } from './preserved-state.ts'

export interface TaintEvictionOptions {
  readonly name: string
  readonly resource: TypedResource<ResourceBinding>
  /** The mode for bindings that do not set one. */
  readonly purgeMode: PurgeMode
  /** The most bindings evicted per second, so that a failure of the hub itself does not move a whole fleet. */
  readonly evictionsPerSecond: number
}

/** Evicts objects from clusters whose taints they do not tolerate, or no longer do. */
export function taintEvictionController(options: TaintEvictionOptions): ControllerDefinition {
  const { name, resource } = options
  return {
    name,
    eventComponent: 'taint-manager',
    // One worker, because the rate limit covers all evictions.
    workers: 1,
    watches: [
      watch(resource, {
        keysOf: ({ type, object }) => (type === 'deleted' ? [] : [keyOfObject(object)]),
      }),
      watch(clusterResource, {
        keysOf: ({ type, object }, context) =>
          type === 'deleted' || !evicts(object)
            ? []
            : context
                .informer(resource)
                .list()
                .filter(({ spec }) => isTarget(spec, object.metadata.name ?? ''))
                .map(keyOfObject),
      }),
    ],
    async reconcile(key, context, signal) {
      const binding = context.informer(resource).get(parseKey(key))
      if (binding === undefined || binding.metadata.deletionTimestamp !== undefined) return
      const clusters = (binding.spec.clusters ?? [])
        .map(({ name: cluster }) => context.informer(clusterResource).get({ name: cluster }))
        .filter((cluster) => cluster !== undefined)
      const { evicted, afterMs } = planTaintEviction(binding, clusters, context.clock.now())
      if (evicted.length > 0) {
        const spec = evictedSpec(binding, evicted, options)
        await writeEviction({ resource, context }, binding, spec, signal)
        recordEvictions(binding, evicted, context)
        await context.clock.sleep(1000 / options.evictionsPerSecond, signal)
      }
      return afterMs === undefined ? undefined : { requeueAfterMs: afterMs }
    },
  }
}

function evicts({ spec }: Cluster): boolean {
  return (spec.taints ?? []).some(({ effect }) => effect === 'NoExecute')
}

function evictedSpec(
  binding: ResourceBinding,
  clusters: readonly string[],
  options: TaintEvictionOptions,
): EvictedSpec {
  const behavior = binding.spec.failover?.cluster
  const purgeMode =
    behavior === undefined ? options.purgeMode : (behavior.purgeMode ?? 'Gracefully')
  return clusters.reduce<EvictedSpec>((spec, fromCluster) => {
    const state = preservedState(behavior?.statePreservation, binding.status, fromCluster)
    return evictCluster(spec, {
      fromCluster,
      purgeMode,
      reason: 'TaintUntolerated',
      producer: 'TaintManager',
      ...(state === undefined ? {} : { preservedLabelState: state }),
    })
  }, binding.spec)
}
