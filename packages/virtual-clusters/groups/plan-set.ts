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
  /** Those without a group that stay for now. */
  readonly waiting: readonly string[]
  /** In so many milliseconds the first of them goes. */
  readonly nextMs?: number
}

/**
 * Decides what a set's groups need of VirtualClusters, beside those that it has. `nowMs` is the time of day,
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
  // One that is there keeps its name: a node that says `East` closes no `east`.
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

/** As its set says, without the time since when it had no group. */
function withGroup(found: VirtualCluster, { spec }: VirtualCluster): VirtualCluster {
  // Under which name it is registered is for who changes it there.
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

/** Goes with its set, by the owner. */
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
