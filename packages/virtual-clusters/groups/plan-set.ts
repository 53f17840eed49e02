import { checkDnsLabel, equalJson } from '@skerry/api'
import {
  setLabel,
  virtualClusterResource,
  type VirtualCluster,
  type VirtualClusterSet,
} from '@skerry/fleet-kinds'
import type { SourceGroup } from './group-sources.ts'
import { isNotedGone, planLeaving, withoutGoneSince } from './plan-leaving.ts'

export interface SetPlan {
  readonly create: readonly VirtualCluster[]
  readonly update: readonly VirtualCluster[]
  readonly remove: readonly string[]
  readonly problems: readonly string[]
  /** VirtualClusters without a group whose grace period is still running. */
  readonly waiting: readonly string[]
  /** The time until the first of them is deleted, in milliseconds. */
  readonly nextMs?: number
}

/**
 * Decides which VirtualClusters to create, update and delete for a set's groups. `nowMs` is the time of day,
 * in milliseconds since 1970.
 */
export function planSet(
  set: VirtualClusterSet,
  groups: readonly SourceGroup[],
  owned: readonly VirtualCluster[],
  nowMs: number,
): SetPlan {
  const problems: string[] = []
  const wanted = new Map<string, VirtualCluster>()
  const isHeld = (group: SourceGroup): boolean => owned.some((each) => isOf(each, group))
  // A VirtualCluster that exists keeps its name: a node labelled `East` does not close `east`.
  for (const group of [...groups.filter(isHeld), ...groups.filter((group) => !isHeld(group))]) {
    const [why] = checkDnsLabel(group.name)
    if (why !== undefined) problems.push(`group "${group.name}" cannot be a name: ${why}`)
    else if (wanted.has(group.name)) problems.push(`two groups would be called "${group.name}"`)
    else wanted.set(group.name, memberOf(set, group))
  }
  const known = new Map(owned.map((each) => [each.metadata.name ?? '', each]))
  const present = owned.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const back = present.flatMap((found) => {
    const next = wanted.get(found.metadata.name ?? '')
    const changed = next && withGroup(found, next)
    return changed === undefined || equalJson(changed, found) ? [] : [changed]
  })
  const leaving = planLeaving(
    set,
    present.filter(({ metadata }) => !wanted.has(metadata.name ?? '')),
    nowMs,
  )
  return {
    create: [...wanted].flatMap(([name, each]) => (known.has(name) ? [] : [each])),
    update: [...back, ...leaving.update],
    remove: leaving.remove,
    problems: [...problems, ...leaving.problems],
    waiting: leaving.waiting,
    ...(leaving.nextMs === undefined ? {} : { nextMs: leaving.nextMs }),
  }
}

/** Applies the set's template and removes the time from which the group was gone. */
function withGroup(found: VirtualCluster, { spec }: VirtualCluster): VirtualCluster {
  // Users change the registered name on the VirtualCluster itself, so the set leaves it alone.
  const { clusterName } = found.spec
  const next = {
    ...found,
    spec: { ...spec, ...(clusterName === undefined ? {} : { clusterName }) },
  }
  return isNotedGone(next) ? withoutGoneSince(next) : next
}

function isOf({ metadata, spec }: VirtualCluster, { name, nodes }: SourceGroup): boolean {
  const { nodeSelector, nodeNames } = spec
  return metadata.name === name && equalJson({ nodeSelector, nodeNames }, { ...none, ...nodes })
}

const none: SourceGroup['nodes'] = Object.freeze({ nodeSelector: undefined, nodeNames: undefined })

/** Returns a VirtualCluster that is deleted with its set, its owner. */
function memberOf(
  { apiVersion, kind, metadata, spec }: VirtualClusterSet,
  { name, nodes }: SourceGroup,
): VirtualCluster {
  const { name: set = '', uid = '' } = metadata
  return {
    apiVersion: `${virtualClusterResource.group}/${virtualClusterResource.version}`,
    kind: 'VirtualCluster',
    metadata: {
      name,
      labels: { [setLabel]: set },
      ownerReferences: [{ apiVersion, kind, name: set, uid, controller: true }],
    },
    spec: { ...spec.template, ...nodes },
  }
}
