import { keyOfObject, parseKey, type TypedResource } from '@skerry/client'
import type { ControllerContext } from '@skerry/controller-runtime'
import type { KubeObject } from '@skerry/api'
import type { BindingSpec, EvictionTask, ResourceBinding } from '@skerry/karmada-kinds'

/** The decided part of an eviction; the rest follows from the binding. */
export type WantedEviction = Omit<EvictionTask, 'replicas' | 'creationTimestamp'>

/** The fields of a binding that an eviction changes. */
export type EvictedSpec = Pick<BindingSpec, 'clusters' | 'gracefulEvictionTasks'>

/**
 * Removes the cluster from the targets. A task keeps its copy until another cluster has taken over, or
 * deletes it at once. A cluster that is already being evicted gets no second task.
 */
export function evictCluster(
  { clusters = [], gracefulEvictionTasks = [] }: EvictedSpec,
  wanted: WantedEviction,
): EvictedSpec {
  const target = clusters.find(({ name }) => name === wanted.fromCluster)
  if (target === undefined) return { clusters, gracefulEvictionTasks }
  const rest = clusters.filter((each) => each !== target)
  const isKnown = gracefulEvictionTasks.some((task) => task.fromCluster === wanted.fromCluster)
  if (isKnown) return { clusters: rest, gracefulEvictionTasks }
  const { replicas = 0 } = target
  const task: EvictionTask = { ...wanted, ...(replicas > 0 ? { replicas } : {}) }
  return { clusters: rest, gracefulEvictionTasks: [...gracefulEvictionTasks, task] }
}

/** Rejects with Conflict where the binding was changed meanwhile, to be called again. */
export async function writeEviction(
  { resource, context }: { resource: TypedResource<ResourceBinding>; context: ControllerContext },
  binding: ResourceBinding,
  { clusters, gracefulEvictionTasks }: EvictedSpec,
  signal: AbortSignal,
): Promise<void> {
  const patch = {
    metadata: { resourceVersion: binding.metadata.resourceVersion },
    spec: {
      ...(clusters ? { clusters: orNull(clusters) } : {}),
      gracefulEvictionTasks: orNull(gracefulEvictionTasks ?? []),
    },
  }
  const key = parseKey(keyOfObject(binding))
  await context.client(resource).patch({ ...key, type: 'merge', patch }, signal)
}

function orNull<T>(list: readonly T[]): readonly T[] | null {
  return list.length === 0 ? null : list
}

/** Records the events on the binding and on its object, as upstream does. */
export function recordEvictions(
  binding: ResourceBinding,
  clusters: readonly string[],
  { events }: ControllerContext,
): void {
  const { apiVersion, kind, ...metadata } = binding.spec.resource
  const object: KubeObject = { apiVersion, kind, metadata }
  for (const cluster of clusters) {
    const message = `Evict from cluster ${cluster} succeed.`
    const text = { type: 'Normal', reason: 'EvictWorkloadFromClusterSucceed', message } as const
    events.event(binding, text)
    events.event(object, text)
  }
}
