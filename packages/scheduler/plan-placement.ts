import type { NodeInfo } from './framework/node-info.ts'
import { dynamicResources } from './plugins/dynamic-resources.ts'
import type { NodeFilter, PlacementContext, Refusal, Snapshot } from './framework/plugin.ts'
import type { Profile } from './profile.ts'

export type Placement =
  | { readonly isPlaced: true; readonly nodeName: string; readonly nodesSeen: number }
  | NoPlacement

export interface NoPlacement {
  readonly isPlaced: false
  /** The message without the result of preemption. */
  readonly message: string
  /** The refusals by node; every node has one. */
  readonly refusals: ReadonlyMap<string, Refusal>
  /**
   * Where placement failed: before the pod's claims for devices were checked, at the claims, or at
   * the nodes.
   */
  readonly stage: 'before-claims' | 'claims' | 'nodes'
  /**
   * The plugins that refused the pod on some node. Only an event that helps one of them is worth
   * another try.
   */
  readonly refusedBy: ReadonlySet<string>
}

export interface PlacementOptions {
  /** Breaks ties between equal nodes. Returns 0..1. */
  random: () => number
  /** The node to begin with, so that all nodes of a large cluster get their turn. */
  firstNode?: number
  /** The node on which preemption has made room for this pod. */
  nominatedNode?: string
}

/** Plans where a pod is placed. A pure function. */
export function planPlacement(
  context: PlacementContext,
  profile: Profile,
  options: PlacementOptions,
): Placement {
  const found = searchPlacement(context, profile, options)
  if ('isPlaced' in found) return found
  if (found.feasible.length === 0) return noPlacement(context, found)
  const nodeName = chooseNode(context, profile, { ...options, feasible: found.feasible })
  return { isPlaced: true, nodeName, nodesSeen: found.nodesSeen }
}

/** Returns the nodes that accept the pod. A nominated node that accepts it is the only one. */
export function searchPlacement(
  context: PlacementContext,
  profile: Profile,
  options: PlacementOptions,
): NoPlacement | Search {
  const { nodes } = context.snapshot
  if (nodes.length === 0) {
    return {
      isPlaced: false,
      message: 'no nodes available to schedule pods',
      refusals: new Map(),
      stage: 'nodes',
      refusedBy: new Set(),
    }
  }
  for (const plugin of profile.filters) {
    const refusal = plugin.preFilter?.(context)
    if (refusal !== undefined) return refusedAsWhole(nodes, refusal, plugin.name)
  }
  const nominated = nominatedIfFits(context, profile, options.nominatedNode ?? '')
  if (nominated !== undefined) {
    const refusals = new Map<string, Refusal>()
    return { feasible: [nominated], refusals, refusedBy: new Set(), nodesSeen: 1 }
  }
  return searchNodes(context, profile, options.firstNode ?? 0)
}

export function noPlacement(
  { snapshot }: PlacementContext,
  { refusals, refusedBy }: Pick<Search, 'refusals' | 'refusedBy'>,
): NoPlacement {
  const message = describeRefusals(refusals, snapshot.nodes.length)
  return { isPlaced: false, message, refusals, stage: 'nodes', refusedBy }
}

export interface Choice {
  readonly feasible: readonly NodeInfo[]
  /** Scores by node, in addition to those of plugins. */
  readonly extraScores?: ReadonlyMap<string, number>
  readonly random: () => number
}

/** Returns the best of some nodes, or any of those that are equal. */
export function chooseNode(
  context: PlacementContext,
  profile: Profile,
  { feasible, extraScores, random }: Choice,
): string {
  const [only] = feasible
  if (only !== undefined && feasible.length === 1) return only.name
  const scores = totalScores(context, profile, feasible)
  const totals = feasible.map(
    ({ name }, index) => (scores[index] ?? 0) + (extraScores?.get(name) ?? 0),
  )
  return pickBest(feasible, totals, random)
}

function refusedAsWhole(nodes: readonly NodeInfo[], refusal: Refusal, plugin: string): NoPlacement {
  return {
    isPlaced: false,
    message: `0/${nodes.length} nodes are available: ${refusal.reasons.join(', ')}.`,
    refusals: new Map(nodes.map(({ name }) => [name, refusal])),
    stage: plugin === dynamicResources.name ? 'claims' : 'before-claims',
    refusedBy: new Set([plugin]),
  }
}

function nominatedIfFits(
  context: PlacementContext,
  profile: Profile,
  name: string,
): NodeInfo | undefined {
  const node = name === '' ? undefined : context.snapshot.node(name)
  if (node === undefined) return undefined
  return refusalOn(context, profile, node) === undefined ? node : undefined
}

export interface Search {
  readonly feasible: NodeInfo[]
  refusals: Map<string, Refusal>
  refusedBy: Set<string>
  nodesSeen: number
}

function searchNodes(context: PlacementContext, profile: Profile, firstNode: number): Search {
  const { nodes } = context.snapshot
  const search: Search = { feasible: [], refusals: new Map(), refusedBy: new Set(), nodesSeen: 0 }
  const narrowed = narrow(context, profile)
  const wanted = feasibleNodesWanted(nodes.length, profile.percentageOfNodesToScore)
  const filters = filtersOf(context, profile)
  for (let step = 0; step < nodes.length && search.feasible.length < wanted; step++) {
    search.nodesSeen += 1
    const node = nodes[(firstNode + step) % nodes.length]
    if (node === undefined) continue
    const found = narrowed?.excludes(node.name)
      ? narrowed.refused
      : (refusedBesideNominees(context, profile, node) ?? firstRefusal(filters, node))
    if (found === undefined) search.feasible.push(node)
    else {
      search.refusals.set(node.name, found.refusal)
      for (const plugin of found.plugins) search.refusedBy.add(plugin)
    }
  }
  return search
}

interface Found {
  readonly refusal: Refusal
  readonly plugins: readonly string[]
}

/** Some pods name their nodes, so the others need not be checked. */
function narrow(
  context: PlacementContext,
  profile: Profile,
): { excludes: (name: string) => boolean; refused: Found } | undefined {
  const sets = profile.filters.flatMap((plugin) => {
    const names = plugin.candidates?.(context)
    return names === undefined ? [] : [{ plugin: plugin.name, names }]
  })
  if (sets.length === 0) return undefined
  const plugins = sets.map(({ plugin }) => plugin)
  const reason = `node(s) didn't satisfy plugin(s) [${plugins.join(' ')}]`
  return {
    excludes: (name) => sets.some(({ names }) => !names.has(name)),
    refused: { refusal: { reasons: [reason], isUnresolvable: true }, plugins },
  }
}

/**
 * Returns how many feasible nodes are enough, because large clusters do not check every node.
 * Upstream's figures: at least 100, and of more nodes a share that falls from 50 to 5 percent.
 */
function feasibleNodesWanted(nodes: number, percentage: number): number {
  const nodesMin = 100
  if (nodes < nodesMin || percentage >= 100) return nodes
  const share = percentage > 0 ? percentage : Math.max(5, 50 - Math.floor(nodes / 125))
  return Math.max(nodesMin, Math.floor((nodes * share) / 100))
}

interface NamedFilter {
  readonly plugin: string
  readonly filter: NodeFilter
}

function filtersOf(context: PlacementContext, profile: Profile): NamedFilter[] {
  return profile.filters.flatMap((plugin): NamedFilter[] => {
    const filter = plugin.filter?.(context)
    return filter === undefined ? [] : [{ plugin: plugin.name, filter }]
  })
}

function firstRefusal(filters: readonly NamedFilter[], node: NodeInfo): Found | undefined {
  for (const { plugin, filter } of filters) {
    const refusal = filter(node)
    if (refusal !== undefined) return { refusal, plugins: [plugin] }
  }
  return undefined
}

/** Returns undefined if the node accepts the pod, both with and without the pods nominated to it. */
export function refusalOn(
  context: PlacementContext,
  profile: Profile,
  node: NodeInfo,
): Refusal | undefined {
  const beside = refusedBesideNominees(context, profile, node)
  if (beside !== undefined) return beside.refusal
  return firstRefusal(filtersOf(context, profile), node)?.refusal
}

/** Pods of the same or higher priority that are nominated to the node count as if they were there. */
function refusedBesideNominees(
  context: PlacementContext,
  profile: Profile,
  node: NodeInfo,
): Found | undefined {
  const { pod, snapshot } = context
  const nominees = snapshot
    .nominated(node.name)
    .filter((each) => each.uid !== pod.uid && each.priority >= pod.priority)
  if (nominees.length === 0) return undefined
  const crowded = node.copy()
  for (const nominee of nominees) crowded.putPod(nominee)
  const view = { pod, snapshot: withNode(snapshot, crowded) }
  return firstRefusal(filtersOf(view, profile), crowded)
}

/** Returns the same snapshot with another state of one node. */
export function withNode(snapshot: Snapshot, node: NodeInfo): Snapshot {
  return {
    ...snapshot,
    nodes: snapshot.nodes.map((each) => (each.name === node.name ? node : each)),
    node: (name) => (name === node.name ? node : snapshot.node(name)),
  }
}

function totalScores(
  context: PlacementContext,
  profile: Profile,
  feasible: readonly NodeInfo[],
): number[] {
  const totals = feasible.map(() => 0)
  for (const { plugin, weight } of profile.scores) {
    const score = plugin.score?.(context, feasible)
    if (score === undefined) continue
    const raw = feasible.map((node) => score.of(node))
    const scaled = score.normalize === undefined ? raw : score.normalize(raw, feasible)
    for (const [index, value] of scaled.entries()) {
      totals[index] = (totals[index] ?? 0) + value * weight
    }
  }
  return totals
}

function pickBest(
  nodes: readonly NodeInfo[],
  scores: readonly number[],
  random: () => number,
): string {
  const best = Math.max(...scores)
  const equals = nodes.filter((_, index) => scores[index] === best)
  const chosen = equals[Math.floor(random() * equals.length)]
  if (chosen === undefined) throw new Error('Cannot pick a node: none has the best score')
  return chosen.name
}

/**
 * Uses upstream's wording, with counted and sorted reasons, because people and tools search events
 * for it.
 */
export function describeRefusals(refusals: ReadonlyMap<string, Refusal>, nodes: number): string {
  const counts = new Map<string, number>()
  for (const reason of [...refusals.values()].flatMap((refusal) => refusal.reasons)) {
    counts.set(reason, (counts.get(reason) ?? 0) + 1)
  }
  const parts = [...counts].map(([reason, count]) => `${count} ${reason}`).toSorted()
  const told = parts.length === 0 ? '' : ` ${parts.join(', ')}.`
  return `0/${nodes} nodes are available:${told}`
}
