import type { NodeInfo } from './node-info.ts'
import type { NodeFilter, NodeScore, PlacementContext, Plugin, Refusal } from './plugin.ts'

export type Placement =
  | { readonly isPlaced: true; readonly nodeName: string }
  | { readonly isPlaced: false; readonly message: string }

/** Decides where a pod goes; touches nothing. Equal nodes are told apart by `random`, 0..1. */
export function planPlacement(
  context: PlacementContext,
  plugins: readonly Plugin[],
  random: () => number,
): Placement {
  const { nodes } = context.snapshot
  if (nodes.length === 0) return { isPlaced: false, message: 'no nodes available to schedule pods' }
  for (const plugin of plugins) {
    const refusal = plugin.preFilter?.(context)
    if (refusal !== undefined) {
      return {
        isPlaced: false,
        message: describe(
          nodes.length,
          nodes.map(() => refusal),
          { isWhole: true },
        ),
      }
    }
  }
  const { feasible, refusals } = filterNodes(context, plugins)
  const [only] = feasible
  if (only === undefined)
    return { isPlaced: false, message: describe(nodes.length, refusals, { isWhole: false }) }
  if (feasible.length === 1) return { isPlaced: true, nodeName: only.name }
  return {
    isPlaced: true,
    nodeName: pickBest(feasible, totalScores(context, plugins, feasible), random),
  }
}

function filterNodes(
  context: PlacementContext,
  plugins: readonly Plugin[],
): { feasible: NodeInfo[]; refusals: Refusal[] } {
  const filters = plugins.flatMap((plugin): NodeFilter[] => {
    const filter = plugin.filter?.(context)
    return filter === undefined ? [] : [filter]
  })
  const feasible: NodeInfo[] = []
  const refusals: Refusal[] = []
  for (const node of context.snapshot.nodes) {
    const refusal = firstRefusal(filters, node)
    if (refusal === undefined) feasible.push(node)
    else refusals.push(refusal)
  }
  return { feasible, refusals }
}

function firstRefusal(filters: readonly NodeFilter[], node: NodeInfo): Refusal | undefined {
  for (const filter of filters) {
    const refusal = filter(node)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

function totalScores(
  context: PlacementContext,
  plugins: readonly Plugin[],
  feasible: readonly NodeInfo[],
): number[] {
  const totals = feasible.map(() => 0)
  for (const plugin of plugins) {
    const score: NodeScore | undefined = plugin.score?.(context)
    if (score === undefined) continue
    const raw = feasible.map((node) => score.of(node))
    const scaled = score.normalize === undefined ? raw : score.normalize(raw)
    for (const [index, value] of scaled.entries()) {
      totals[index] = (totals[index] ?? 0) + value * (plugin.weight ?? 1)
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

/** Upstream's wording, reasons counted and in order: people and tools search events for it. */
function describe(
  nodes: number,
  refusals: readonly Refusal[],
  { isWhole }: { isWhole: boolean },
): string {
  const head = `0/${nodes} nodes are available: `
  const tail = preemptionNote(nodes, refusals)
  if (isWhole) return `${head}${refusals[0]?.reasons.join(', ') ?? ''}. ${tail}`
  const counts = new Map<string, number>()
  for (const reason of refusals.flatMap((refusal) => refusal.reasons)) {
    counts.set(reason, (counts.get(reason) ?? 0) + 1)
  }
  const parts = [...counts].map(([reason, count]) => `${count} ${reason}`).toSorted()
  return `${head}${parts.join(', ')}. ${tail}`
}

function preemptionNote(nodes: number, refusals: readonly Refusal[]): string {
  const hopeless = refusals.filter((refusal) => refusal.isUnresolvable).length
  const rest = refusals.length - hopeless
  const parts: string[] = []
  if (rest > 0) parts.push(`${rest} No preemption victims found for incoming pod`)
  if (hopeless > 0) parts.push(`${hopeless} Preemption is not helpful for scheduling`)
  return `preemption: 0/${nodes} nodes are available: ${parts.join(', ')}.`
}
