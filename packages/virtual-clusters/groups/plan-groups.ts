import { messageOf } from '@skerry/base'
import { checkDnsLabel, labelSelectorOf, type LabelSelector, type Node } from '@skerry/api'
import { isNodeReady } from '@skerry/cluster-agent'
import { groupLabel, clusterNameOf, type VirtualCluster } from '@skerry/fleet-kinds'
import { parseExternalAddresses } from '../mapping/external-addresses.ts'
import { createNamespaceRule } from '../mapping/namespace-rule.ts'
import { virtualClusterBounds } from '../limits-table.ts'

const { nameCharsMax, problemsMax } = virtualClusterBounds.planGroups

export interface GroupPlan {
  /** The nodes whose group label changes, with the new value; undefined removes the label. */
  readonly labels: ReadonlyMap<string, string | undefined>
  /** The planned groups, by VirtualCluster name. */
  readonly groups: ReadonlyMap<string, PlannedGroup>
}

export interface PlannedGroup {
  readonly clusterName: string
  /** True if the spec is rejected for the reported problem: the group is not registered, or stays as it was. */
  readonly isRefused: boolean
  readonly nodes: { readonly total: number; readonly ready: number }
  readonly problems: readonly string[]
}

/**
 * Decides which node is in which group. A node is in at most one group: it stays in its present group while
 * that group selects it, else it joins the oldest group that does. The others report a conflict. A group
 * whose spec becomes invalid keeps its name and its nodes, so that a typo closes no branch.
 */
export function planGroups(
  parent: string,
  virtualClusters: readonly VirtualCluster[],
  nodes: readonly Node[],
): GroupPlan {
  const candidates = candidatesOf(parent, virtualClusters)
  const active = candidates.filter(({ refusal }) => refusal === undefined)
  const holding = new Map(candidates.map((each) => [each.held, each]))
  const labels = new Map<string, string | undefined>()
  for (const node of nodes) {
    const { name = '' } = node.metadata
    const known = node.metadata.labels?.[groupLabel]
    const holder = known === undefined ? undefined : holding.get(known)
    if (holder) {
      count(holder, node)
      continue
    }
    const selecting = active.filter((each) => selects(each, node))
    const chosen = selecting.find(({ clusterName }) => clusterName === known) ?? selecting[0]
    for (const each of selecting) tellConflict(each, { name, chosen, selecting })
    if (chosen) count(chosen, node)
    if (chosen?.clusterName !== known) labels.set(name, chosen?.clusterName)
  }
  return { labels, groups: new Map(candidates.map((each) => [each.name, plannedOf(each)])) }
}

function count(group: Candidate, node: Node): void {
  group.total += 1
  if (isNodeReady(node)) group.ready += 1
}

interface Candidate {
  readonly name: string
  readonly clusterName: string
  readonly refusal: string | undefined
  /** The name under which a rejected group is already registered. */
  readonly held: string | undefined
  readonly selector: LabelSelector | undefined
  readonly nodeNames: ReadonlySet<string>
  readonly problems: string[]
  total: number
  ready: number
}

/** Sorts the oldest first. A VirtualCluster that is being deleted selects no nodes. */
function candidatesOf(parent: string, all: readonly VirtualCluster[]): Candidate[] {
  const ordered = all
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => (ageKey(a) < ageKey(b) ? -1 : 1))
  const taken = new Map<string, string>([[parent, '']])
  const inUse = new Map(ordered.map(({ metadata, status }) => [status?.clusterName, metadata.name]))
  for (const each of all) {
    // A cluster that is being deleted keeps its name until it has left. A new one of that name would be
    // deleted with it.
    const { deletionTimestamp, name = '' } = each.metadata
    if (deletionTimestamp) taken.set(each.status?.clusterName ?? clusterNameOf(parent, each), name)
  }
  const pattern = ordered[0]?.spec.namespaces?.pattern
  return ordered.map((each) => {
    const { name = '' } = each.metadata
    const clusterName = clusterNameOf(parent, each)
    const user = inUse.get(clusterName)
    const refusal =
      nameRefusal(clusterName, taken.get(clusterName) ?? (user === name ? undefined : user)) ??
      selectorRefusal(each) ??
      patternRefusal(each.spec.namespaces?.pattern, pattern) ??
      ruleRefusal(clusterName, each.spec.namespaces?.pattern) ??
      addressRefusal(each)
    if (refusal === undefined) taken.set(clusterName, name)
    return {
      name,
      clusterName,
      refusal,
      held: refusal === undefined ? undefined : each.status?.clusterName,
      selector: refusal === undefined ? selectorOf(each) : undefined,
      nodeNames: new Set(each.spec.nodeNames),
      problems: [],
      total: 0,
      ready: 0,
    }
  })
}

function ageKey({ metadata }: VirtualCluster): string {
  return `${metadata.creationTimestamp ?? ''} ${metadata.name ?? ''}`
}

function nameRefusal(clusterName: string, taker: string | undefined): string | undefined {
  if (taker === '') return `clusterName "${clusterName}" is the whole cluster's own name`
  if (taker !== undefined) {
    return `clusterName "${clusterName}" is that of VirtualCluster "${taker}": choose another one`
  }
  const [why] = checkDnsLabel(clusterName)
  if (why !== undefined) return `clusterName "${clusterName}": ${why}`
  if (clusterName.length <= nameCharsMax) return undefined
  return `clusterName "${clusterName}" has more than ${nameCharsMax} characters: set a shorter spec.clusterName`
}

function selectorRefusal(virtualCluster: VirtualCluster): string | undefined {
  try {
    selectorOf(virtualCluster)
    return undefined
  } catch (error) {
    return `nodeSelector: ${messageOf(error)}`
  }
}

function selectorOf({ spec }: VirtualCluster): LabelSelector | undefined {
  return spec.nodeSelector && labelSelectorOf(spec.nodeSelector)
}

/** With two patterns, two virtual clusters could map to one namespace. */
function patternRefusal(own: string | undefined, first: string | undefined): string | undefined {
  if (own === first) return undefined
  return `namespaces.pattern must be the same in all VirtualClusters, and the oldest has ${first === undefined ? 'none' : `"${first}"`}`
}

function ruleRefusal(clusterName: string, pattern: string | undefined): string | undefined {
  if (pattern === undefined) return undefined
  try {
    createNamespaceRule({ clusterName, pattern })
    return undefined
  } catch (error) {
    if (error instanceof RangeError) return `namespaces.pattern: ${error.message}`
    throw error
  }
}

function addressRefusal({ spec }: VirtualCluster): string | undefined {
  try {
    parseExternalAddresses(spec.isolation?.externalAddresses ?? [])
    return undefined
  } catch (error) {
    if (error instanceof RangeError) return `isolation.externalAddresses: ${error.message}`
    throw error
  }
}

function selects({ selector, nodeNames }: Candidate, { metadata }: Node): boolean {
  return nodeNames.has(metadata.name ?? '') || selector?.matches(metadata.labels) === true
}

interface Conflict {
  /** The node's name. */
  readonly name: string
  readonly chosen: Candidate | undefined
  readonly selecting: readonly Candidate[]
}

function tellConflict(candidate: Candidate, { name, chosen, selecting }: Conflict): void {
  if (selecting.length < 2) return
  const others = selecting.filter((each) => each !== candidate).map((each) => `"${each.name}"`)
  const stays = candidate === chosen ? 'here' : `in "${chosen?.name ?? ''}"`
  candidate.problems.push(
    `node "${name}" is selected by ${others.join(', ')}, too, and stays ${stays}`,
  )
}

function plannedOf({ clusterName, refusal, problems, total, ready }: Candidate): PlannedGroup {
  const rest = problems.length - problemsMax
  return {
    clusterName,
    isRefused: refusal !== undefined,
    nodes: { total, ready },
    problems: [
      ...(refusal === undefined ? [] : [refusal]),
      ...problems.slice(0, problemsMax),
      ...(rest > 0 ? [`and ${rest} more nodes are selected twice`] : []),
    ],
  }
}
