import type { Pod } from '@skerry/api'
import { extenderRefusal } from './ask-extenders.ts'
import type { ClusterEvent } from './framework/cluster-event.ts'
import type { Profile } from './profile.ts'
import type { HelpJudge } from './scheduling-queue.ts'

/** Asks the plugins that refused the pod. There are none if the cluster had no node. */
export function helpJudge(profiles: ReadonlyMap<string, Profile>): HelpJudge {
  return (event: ClusterEvent, pod: Pod, refusedBy: ReadonlySet<string>): boolean => {
    if (refusedBy.has(extenderRefusal)) return true
    if (refusedBy.size === 0) return event.kind === 'node-added'
    const plugins = profiles.get(pod.spec?.schedulerName ?? '')?.filters ?? []
    return plugins.some(
      (plugin) => refusedBy.has(plugin.name) && plugin.isHelpedBy?.(event, pod) === true,
    )
  }
}
