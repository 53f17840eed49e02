import type { EvictionTask, ResourceBinding } from '@skerry/karmada-kinds'
import { apiTime } from '@skerry/fleet-kinds'
import { propagationBounds } from '../limits-table.ts'

export interface EvictionPlan {
  readonly tasks: readonly EvictionTask[]
  /** The clusters whose copy may be deleted now. */
  readonly evicted: readonly string[]
  /** The time until the next task is over; omitted if no time ends one. */
  readonly afterMs?: number
}

/**
 * Decides which copies still wait for their successors. A task ends when all clusters of the object report it
 * healthy, or when its time is over. A task that suppresses deletion ends when a person allows it.
 */
export function planGracefulEviction(
  binding: ResourceBinding,
  { nowMs, timeoutMs }: { nowMs: number; timeoutMs: number },
): EvictionPlan {
  const { gracefulEvictionTasks = [] } = binding.spec
  const hasSuccessors = isPlaced(binding) && isHealthyEverywhere(binding)
  const started = gracefulEvictionTasks.map((task) =>
    task.creationTimestamp === undefined ? { ...task, creationTimestamp: apiTime(nowMs) } : task,
  )
  const endOf = ({ creationTimestamp = '', gracePeriodSeconds }: EvictionTask): number =>
    Date.parse(creationTimestamp) +
    (gracePeriodSeconds === undefined ? timeoutMs : gracePeriodSeconds * 1000)
  const isOver = (task: EvictionTask, at: number): boolean => {
    // The task has just started, so the reported health may be older.
    if (gracefulEvictionTasks[at]?.creationTimestamp === undefined) return false
    if (task.suppressDeletion !== undefined) return !task.suppressDeletion
    return nowMs > endOf(task) || hasSuccessors
  }
  const tasks = started.filter((task, at) => !isOver(task, at))
  const evicted = started.filter((task) => !tasks.includes(task)).map((task) => task.fromCluster)
  const ends = tasks.filter((task) => task.suppressDeletion === undefined).map(endOf)
  // A moment more, since times are whole seconds and a task is over after its end.
  const afterMs = Math.max(0, Math.min(...ends) - nowMs) + momentMs
  return { tasks, evicted, ...(ends.length > 0 ? { afterMs } : {}) }
}

const { momentMs } = propagationBounds.gracefulEviction

/** Until then, the statuses may come from clusters that the object has left. */
function isPlaced({ metadata, status }: ResourceBinding): boolean {
  return status?.schedulerObservedGeneration === metadata.generation
}

function isHealthyEverywhere({ spec, status }: ResourceBinding): boolean {
  return (spec.clusters ?? []).every(({ name }) =>
    status?.aggregatedStatus?.some(
      ({ clusterName, health }) => clusterName === name && health === 'Healthy',
    ),
  )
}
