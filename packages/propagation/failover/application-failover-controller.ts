import { keyOfObject, parseKey, type TypedResource } from '@skerry/client'
import { watch, type ControllerDefinition } from '@skerry/controller-runtime'
import type { ResourceBinding, FailoverBehavior } from '@skerry/karmada-kinds'
import {
  evictCluster,
  recordEvictions,
  writeEviction,
  type WantedEviction,
} from './evict-cluster.ts'
import { preservedState } from './preserved-state.ts'

export interface ApplicationFailoverOptions {
  /** Upstream's name of the controller, the producer of its tasks. */
  readonly name: string
  readonly resource: TypedResource<ResourceBinding>
}

/** Removes an application from clusters where it has been unhealthy for longer than its policy tolerates. */
export function applicationFailoverController(
  options: ApplicationFailoverOptions,
): ControllerDefinition {
  const { name, resource } = options
  /**
   * Maps a binding to its clusters with the time since when the object is unhealthy there, in milliseconds of
   * the monotonic clock.
   */
  const unhealthy = new Map<string, ReadonlyMap<string, number>>()
  return {
    name,
    watches: [watch(resource, { keysOf: ({ object }) => [keyOfObject(object)] })],
    async reconcile(key, context, signal) {
      const binding = context.informer(resource).get(parseKey(key))
      const behavior = binding && behaviorOf(binding)
      if (binding === undefined || behavior === undefined) return void unhealthy.delete(key)
      const nowMs = context.clock.monotonicMs()
      const since = unhealthySince(binding, unhealthy.get(key), nowMs)
      unhealthy.set(key, since)
      const toleratedMs = (behavior.decisionConditions.tolerationSeconds ?? 300) * 1000
      const ends = [...since].map(([cluster, atMs]) => ({ cluster, endMs: atMs + toleratedMs }))
      const evicted = ends.filter(({ endMs }) => endMs <= nowMs).map(({ cluster }) => cluster)
      if (evicted.length > 0) {
        const spec = evicted
          .map((cluster) => evictionOf(binding, behavior, { cluster, name }))
          .reduce(evictCluster, binding.spec)
        await writeEviction({ resource, context }, binding, spec, signal)
        recordEvictions(binding, evicted, context)
      }
      const waits = ends.map(({ endMs }) => endMs - nowMs).filter((ms) => ms > 0)
      return waits.length === 0 ? undefined : { requeueAfterMs: Math.min(...waits) }
    },
  }
}

type ApplicationBehavior = NonNullable<FailoverBehavior['application']>

/**
 * Returns undefined if the binding does not request application failover. Dependencies must move along, so it
 * also requires propagateDeps.
 */
function behaviorOf({ metadata, spec }: ResourceBinding): ApplicationBehavior | undefined {
  if (metadata.deletionTimestamp !== undefined || spec.propagateDeps !== true) return undefined
  return spec.failover?.application
}

function unhealthySince(
  { spec, status }: ResourceBinding,
  known: ReadonlyMap<string, number> | undefined,
  nowMs: number,
): ReadonlyMap<string, number> {
  const targets = new Set((spec.clusters ?? []).map(({ name }) => name))
  const ill = (status?.aggregatedStatus ?? []).filter(
    ({ clusterName, health }) => health === 'Unhealthy' && targets.has(clusterName),
  )
  return new Map(
    ill.map(({ clusterName }) => [clusterName, known?.get(clusterName) ?? nowMs] as const),
  )
}

function evictionOf(
  { spec, status }: ResourceBinding,
  behavior: ApplicationBehavior,
  { cluster, name }: { cluster: string; name: string },
): WantedEviction {
  const { purgeMode = 'Gracefully', gracePeriodSeconds, statePreservation } = behavior
  const state = preservedState(statePreservation, status, cluster)
  const isGraceful = purgeMode === 'Gracefully' || purgeMode === 'Graciously'
  return {
    fromCluster: cluster,
    purgeMode,
    reason: 'ApplicationFailure',
    producer: name,
    ...(isGraceful && gracePeriodSeconds !== undefined ? { gracePeriodSeconds } : {}),
    ...(purgeMode === 'Never' ? { suppressDeletion: true } : {}),
    ...(state === undefined
      ? {}
      : {
          preservedLabelState: state,
          clustersBeforeFailover: (spec.clusters ?? []).map((target) => target.name),
        }),
  }
}
