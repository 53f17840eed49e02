import { labelSelectorOf, type PodDisruptionBudget } from '@skerry/api'
import type { NodeInfo } from './framework/node-info.ts'
import { describeRefusals, refusalOn, withNode } from './plan-placement.ts'
import { refuseForGood, type PlacementContext, type Refusal } from './framework/plugin.ts'
import type { PodInfo } from './framework/pod-info.ts'
import type { Profile } from './profile.ts'
import { schedulerBounds } from './limits-table.ts'

export type Preemption =
  | {
      readonly isPossible: true
      readonly nodeName: string
      /** The victims, from the most to the least important. */
      readonly victims: readonly PodInfo[]
    }
  | {
      readonly isPossible: false
      readonly message: string
      /** True if the result is unknown; then nothing else is reported, either. */
      readonly isError: boolean
      /** True if the pod's nomination is useless now. */
      readonly dropsNomination: boolean
    }

export type NoPreemption = Extract<Preemption, { isPossible: false }>

export interface PreemptionInput {
  context: PlacementContext
  profile: Profile
  /** Why each node refused the pod. */
  refusals: ReadonlyMap<string, Refusal>
  budgets: readonly PodDisruptionBudget[]
  /** The node that this pod waits for already. It is empty if there is none. */
  nominatedNode: string
  random: () => number
}

/** Plans which pods of lower priority are evicted, and where. A pure function. */
export function planPreemption(input: PreemptionInput): Preemption {
  const found = findPreemptions(input)
  return 'isPossible' in found ? found : choosePreemption(found)
}

/** Returns all possible preemptions without choosing one. */
export function findPreemptions(
  input: PreemptionInput,
): NoPreemption | readonly PreemptionCandidate[] {
  const reluctance = whyNotEligible(input)
  if (reluctance !== undefined) {
    return noPreemption(reluctance, { isError: false, dropsNomination: false })
  }
  const { candidates, refusals, needless } = findCandidates(input)
  if (candidates.length > 0) return candidates
  if (needless.length > 0) {
    const texts = needless.map((name) => `expected at least one victim pod on node "${name}"`)
    const [only = ''] = texts
    const text = texts.length === 1 ? only : `[${texts.join(', ')}]`
    return noPreemption(text, { isError: true, dropsNomination: false })
  }
  const message = describeRefusals(refusals, input.context.snapshot.nodes.length)
  return noPreemption(message, { isError: false, dropsNomination: true })
}

export function choosePreemption(candidates: readonly PreemptionCandidate[]): Preemption {
  const best = pickCandidate(candidates)
  return best === undefined
    ? noPreemption('no candidate node for preemption', { isError: false, dropsNomination: false })
    : { isPossible: true, nodeName: best.nodeName, victims: best.victims }
}

function noPreemption(
  text: string,
  facts: Pick<NoPreemption, 'isError' | 'dropsNomination'>,
): NoPreemption {
  return { isPossible: false, message: `preemption: ${text}`, ...facts }
}

function whyNotEligible({ context, refusals, nominatedNode }: PreemptionInput): string | undefined {
  const { pod, snapshot } = context
  if (pod.pod.spec?.preemptionPolicy === 'Never') {
    return 'not eligible due to preemptionPolicy=Never.'
  }
  if (nominatedNode === '' || refusals.get(nominatedNode)?.isUnresolvable === true) return undefined
  const pods = [...(snapshot.node(nominatedNode)?.pods.values() ?? [])]
  const isRoomComing = pods.some((each) => each.priority < pod.priority && isGivingWay(each))
  return isRoomComing ? 'not eligible due to a terminating pod on the nominated node.' : undefined
}

function isGivingWay({ pod }: PodInfo): boolean {
  return (
    pod.metadata.deletionTimestamp !== undefined &&
    (pod.status?.conditions ?? []).some(
      ({ type, status, reason }) =>
        type === 'DisruptionTarget' && status === 'True' && reason === 'PreemptionByScheduler',
    )
  )
}

export interface PreemptionCandidate {
  readonly nodeName: string
  readonly victims: readonly PodInfo[]
  readonly violations: number
}

const { candidatesMin } = schedulerBounds.planPreemption

function findCandidates(input: PreemptionInput): {
  candidates: PreemptionCandidate[]
  refusals: Map<string, Refusal>
  /** Nodes that accept the pod without any eviction. */
  needless: string[]
} {
  const { context, random } = input
  const needless: string[] = []
  const refusals = new Map<string, Refusal>()
  const potential: NodeInfo[] = []
  for (const node of context.snapshot.nodes) {
    if (input.refusals.get(node.name)?.isUnresolvable === false) potential.push(node)
    else refusals.set(node.name, refuseForGood('Preemption is not helpful for scheduling'))
  }
  const wanted = Math.max(candidatesMin, Math.floor(potential.length / 10))
  const offset = Math.floor(random() * potential.length)
  const candidates: PreemptionCandidate[] = []
  for (let step = 0; step < potential.length; step++) {
    const node = potential[(offset + step) % potential.length]
    if (node === undefined) continue
    const found = selectVictims(input, node)
    if ('reasons' in found) refusals.set(node.name, found)
    else if (found.victims.length === 0) needless.push(node.name)
    else candidates.push(found)
    if (candidates.length >= wanted && candidates.some((each) => each.violations === 0)) break
  }
  return { candidates, refusals, needless }
}

/**
 * Removes all pods of lower priority, then puts back as many as possible, the most important first.
 * Those whose budget would be violated are put back before the others.
 */
function selectVictims(input: PreemptionInput, node: NodeInfo): PreemptionCandidate | Refusal {
  const { context, profile, budgets } = input
  const { pod } = context
  const lower = [...node.pods.values()].filter((each) => each.priority < pod.priority)
  if (lower.length === 0) return refuseForGood('No preemption victims found for incoming pod')
  const trial = node.copy()
  for (const each of lower) trial.removePod(each.uid)
  const view = { pod, snapshot: withNode(context.snapshot, trial) }
  const refusal = refusalOn(view, profile, trial)
  if (refusal !== undefined) return refusal
  const { violating, others } = splitByBudgets(lower.toSorted(byImportance), budgets)
  const victims: PodInfo[] = []
  let violations = 0
  for (const [each, isViolating] of [
    ...violating.map((one) => [one, true] as const),
    ...others.map((one) => [one, false] as const),
  ]) {
    trial.putPod(each)
    if (refusalOn(view, profile, trial) === undefined) continue
    trial.removePod(each.uid)
    victims.push(each)
    if (isViolating) violations += 1
  }
  return { nodeName: node.name, victims: victims.toSorted(byImportance), violations }
}

/** Sorts higher priority first, then the pod that has run longer. */
function byImportance(a: PodInfo, b: PodInfo): number {
  return b.priority - a.priority || startMs(a) - startMs(b)
}

/** A pod that has not started counts as started now, because it has nothing to lose yet. */
function startMs({ pod }: PodInfo): number {
  const start = pod.status?.startTime
  return start === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(start)
}

/** Takes the pods in order. Each uses up one disruption of every budget that selects it. */
function splitByBudgets(
  pods: readonly PodInfo[],
  budgets: readonly PodDisruptionBudget[],
): { violating: PodInfo[]; others: PodInfo[] } {
  const left = budgets.map((budget) => ({
    budget,
    selector: labelSelectorOf(budget.spec?.selector),
    allowed: budget.status?.disruptionsAllowed ?? 0,
  }))
  const violating: PodInfo[] = []
  const others: PodInfo[] = []
  for (const each of pods) {
    let isViolating = false
    for (const entry of left) {
      if (!isBudgetFor(entry, each)) continue
      entry.allowed -= 1
      if (entry.allowed < 0) isViolating = true
    }
    if (isViolating) violating.push(each)
    else others.push(each)
  }
  return { violating, others }
}

function isBudgetFor(
  entry: { budget: PodDisruptionBudget; selector: ReturnType<typeof labelSelectorOf> },
  { pod, namespace }: PodInfo,
): boolean {
  const { metadata, status } = entry.budget
  const labels = pod.metadata.labels ?? {}
  if (metadata.namespace !== namespace || Object.keys(labels).length === 0) return false
  // The budget's own controller counts a pod that was already disrupted.
  return (
    entry.selector.matches(labels) && status?.disruptedPods?.[pod.metadata.name ?? ''] === undefined
  )
}

/** Each criterion keeps the candidates that are best by it; the first of the rest wins. */
const criteria: readonly ((candidate: PreemptionCandidate) => number)[] = [
  ({ violations }) => violations,
  ({ victims }) => victims[0]?.priority ?? 0,
  // The shift makes few victims of negative priority cheaper than many.
  ({ victims }) => victims.reduce((sum, each) => sum + each.priority + 2 ** 31, 0),
  ({ victims }) => victims.length,
  ({ victims }) => -earliestStartMs(victims),
]

function pickCandidate(
  candidates: readonly PreemptionCandidate[],
): PreemptionCandidate | undefined {
  let left = candidates
  for (const cost of criteria) {
    if (left.length <= 1) break
    const least = Math.min(...left.map(cost))
    left = left.filter((each) => cost(each) === least)
  }
  return left[0]
}

/** Returns the earliest start of the most important victims. */
function earliestStartMs(victims: readonly PodInfo[]): number {
  const highest = victims[0]?.priority
  return Math.min(...victims.filter((each) => each.priority === highest).map(startMs))
}
