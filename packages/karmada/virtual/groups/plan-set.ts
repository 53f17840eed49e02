import { checkDnsLabel, equalJson } from '@skerry/api'
import type { SourceGroup } from './group-sources.ts'
import {
  setLabel,
  virtualClusterResource,
  type VirtualCluster,
  type VirtualClusterSet,
} from './virtual-cluster.ts'

export interface SetPlan {
  readonly create: readonly VirtualCluster[]
  readonly update: readonly VirtualCluster[]
  readonly remove: readonly string[]
  readonly problems: readonly string[]
}

/** Decides what a set's groups need of VirtualClusters, beside those that it has. */
export function planSet(
  set: VirtualClusterSet,
  groups: readonly SourceGroup[],
  owned: readonly VirtualCluster[],
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
  const update: VirtualCluster[] = []
  for (const [name, next] of wanted) {
    const found = known.get(name)
    if (found === undefined || found.metadata.deletionTimestamp) continue
    // Under which name it is registered is for who changes it there.
    const { clusterName } = found.spec
    const spec = { ...next.spec, ...(clusterName === undefined ? {} : { clusterName }) }
    if (!equalJson(spec, found.spec)) update.push({ ...found, spec })
  }
  return {
    create: [...wanted].flatMap(([name, each]) => (known.has(name) ? [] : [each])),
    update,
    remove: [...known].flatMap(([name, { metadata }]) =>
      wanted.has(name) || metadata.deletionTimestamp ? [] : [name],
    ),
    problems,
  }
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
