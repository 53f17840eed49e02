import { equalJson } from '@skerry/api'
import { keyOfObject, parseKey, type TypedResource } from '@skerry/client'
import { watch, type ControllerDefinition } from '@skerry/controller-runtime'
import type { ResourceBinding } from '@skerry/karmada-kinds'
import { recordEvictions, writeEviction } from './evict-cluster.ts'
import { planGracefulEviction } from './graceful-eviction.ts'

export interface GracefulEvictionOptions {
  /** Upstream's name of the controller, also used in its events. */
  readonly name: string
  readonly resource: TypedResource<ResourceBinding>
  /** The timeout for tasks that do not set one, in milliseconds; 10 minutes upstream. */
  readonly timeoutMs: number
}

/** Ends evictions, so that the copies that they kept are deleted. */
export function gracefulEvictionController({
  name,
  resource,
  timeoutMs,
}: GracefulEvictionOptions): ControllerDefinition {
  return {
    name,
    watches: [
      watch(resource, {
        keysOf: ({ type, object }) =>
          type === 'deleted' || (object.spec.gracefulEvictionTasks ?? []).length === 0
            ? []
            : [keyOfObject(object)],
      }),
    ],
    async reconcile(key, context, signal) {
      const binding = context.informer(resource).get(parseKey(key))
      if (binding === undefined || binding.metadata.deletionTimestamp !== undefined) return
      const nowMs = context.clock.now()
      const { tasks, evicted, afterMs } = planGracefulEviction(binding, { nowMs, timeoutMs })
      if (!equalJson(tasks, binding.spec.gracefulEvictionTasks ?? [])) {
        const written = { gracefulEvictionTasks: [...tasks] }
        await writeEviction({ resource, context }, binding, written, signal)
        recordEvictions(binding, evicted, context)
      }
      return afterMs === undefined ? undefined : { requeueAfterMs: afterMs }
    },
  }
}
