import type { Node } from '@skerry/api'
import { ExtenderError, type Extender, type PreemptionVictims } from './extender.ts'
import type { NodeInfo } from './framework/node-info.ts'
import {
  chooseNode,
  noPlacement,
  searchPlacement,
  type Placement,
  type PlacementOptions,
  type Search,
} from './plan-placement.ts'
import {
  choosePreemption,
  findPreemptions,
  type Preemption,
  type PreemptionCandidate,
  type PreemptionInput,
} from './plan-preemption.ts'
import { refuse, refuseForGood, type PlacementContext } from './framework/plugin.ts'
import type { PodInfo } from './framework/pod-info.ts'
import type { Profile } from './profile.ts'

/** Listed among the plugins that refused a pod; every event is then worth another try. */
export const extenderRefusal = 'Extender'

export interface Extenders {
  readonly extenders: readonly Extender[]
  readonly signal: AbortSignal
}

/**
 * Does the same as planPlacement, but asks the extenders. Rejects with ExtenderError if one fails
 * that must not.
 */
export async function planWithExtenders(
  context: PlacementContext,
  profile: Profile,
  options: PlacementOptions & Extenders,
): Promise<Placement> {
  const interested = options.extenders.filter((each) => each.isInterested(context.pod.pod))
  const asked = { ...options, extenders: interested }
  let found = searchPlacement(context, profile, options)
  if ('isPlaced' in found) return found
  let feasible = await nodesLeft(context, found, asked)
  if (feasible.length === 0 && (options.nominatedNode ?? '') !== '') {
    // The nominated node was the only one that was checked.
    found = searchPlacement(context, profile, { ...options, nominatedNode: '' })
    if ('isPlaced' in found) return found
    feasible = await nodesLeft(context, found, asked)
  }
  if (feasible.length === 0) return noPlacement(context, found)
  const extraScores = await scoresOf(context, feasible, asked)
  const nodeName = chooseNode(context, profile, { feasible, extraScores, random: options.random })
  return { isPlaced: true, nodeName, nodesSeen: found.nodesSeen }
}

/** Returns the nodes that every extender accepts. Its reasons against others are among the refusals. */
async function nodesLeft(
  { pod }: PlacementContext,
  { feasible, refusals, refusedBy }: Search,
  { extenders, signal }: Extenders,
): Promise<readonly NodeInfo[]> {
  let left: readonly NodeInfo[] = feasible
  for (const extender of extenders) {
    if (left.length === 0) break
    const verdict = await unlessIgnorable(extender, () =>
      extender.filter?.(pod.pod, left.flatMap(nodeOf), signal),
    )
    if (verdict === undefined) continue
    for (const [name, text] of Object.entries(verdict.failed)) refusals.set(name, refuse(text))
    for (const [name, text] of Object.entries(verdict.unresolvable)) {
      refusals.set(name, refuseForGood(text))
    }
    const byName = new Map(left.map((node) => [node.name, node]))
    left = verdict.nodes.flatMap((name) => byName.get(name) ?? [])
  }
  if (left.length !== feasible.length) refusedBy.add(extenderRefusal)
  return left
}

function nodeOf({ node }: NodeInfo): Node[] {
  return node === undefined ? [] : [node]
}

/** An extender that does not answer gives no score, as upstream. */
async function scoresOf(
  { pod }: PlacementContext,
  feasible: readonly NodeInfo[],
  { extenders, signal }: Extenders,
): Promise<ReadonlyMap<string, number>> {
  const totals = new Map<string, number>()
  if (feasible.length === 1) return totals
  const given = await Promise.all(
    extenders.map(async ({ prioritize }) => {
      try {
        return await prioritize?.(pod.pod, feasible.flatMap(nodeOf), signal)
      } catch (error) {
        if (error instanceof ExtenderError && !signal.aborted) return undefined
        throw error
      }
    }),
  )
  for (const scores of given) {
    for (const [name, score] of scores ?? []) totals.set(name, (totals.get(name) ?? 0) + score)
  }
  return totals
}

/** Does the same as planPreemption, but asks the extenders. */
export async function preemptWithExtenders(
  input: PreemptionInput,
  { extenders, signal }: Extenders,
): Promise<Preemption> {
  const found = findPreemptions(input)
  if ('isPossible' in found) return found
  const { pod, snapshot } = input.context
  let candidates = found
  for (const extender of extenders) {
    if (candidates.length === 0) break
    if (!extender.isInterested(pod.pod)) continue
    const named = await unlessIgnorable(extender, () =>
      extender.preempt?.(pod.pod, candidates, signal),
    )
    if (named !== undefined) {
      candidates = named.map((each) => candidateOf(each, snapshot.node(each.nodeName)))
    }
  }
  return choosePreemption(candidates)
}

function candidateOf(
  { nodeName, uids, violations }: PreemptionVictims,
  node: NodeInfo | undefined,
): PreemptionCandidate {
  if (uids.length === 0) {
    throw new ExtenderError(`expected at least one victim pod on node "${nodeName}"`)
  }
  const victims = uids.map((uid): PodInfo => {
    const victim = node?.pods.get(uid)
    if (victim !== undefined) return victim
    throw new ExtenderError(`Cannot preempt: pod (UID: ${uid}) is not found on node ${nodeName}`)
  })
  return { nodeName, victims, violations }
}

/** Returns undefined if the extender has no such verb, or fails and may be ignored. */
async function unlessIgnorable<T>(
  { isIgnorable }: Extender,
  ask: () => Promise<T> | undefined,
): Promise<T | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof ExtenderError && isIgnorable) return undefined
    throw error
  }
}

/** Has the pod bound by the extender for that. Returns false if there is none. */
export async function bindByExtender(
  { pod }: PodInfo,
  nodeName: string,
  { extenders, signal }: Extenders,
): Promise<boolean> {
  for (const extender of extenders) {
    const { bind } = extender
    if (bind === undefined || !extender.isInterested(pod)) continue
    const bound = await unlessIgnorable(extender, async () => {
      await bind({ pod, nodeName }, signal)
      return true
    })
    if (bound === true) return true
  }
  return false
}
