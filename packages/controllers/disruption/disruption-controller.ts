import {
  labelSelectorOf,
  type Pod,
  type PodDisruptionBudget,
  type PodDisruptionBudgetStatus,
} from '@skerry/api'
import { messageOf } from '@skerry/base'
import {
  keyOfObject,
  parseKey,
  resources,
  type Change,
  type KnownResource,
  type PartialObject,
} from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
  type Watch,
} from '@skerry/controller-runtime'
import { isPodReady } from '../pods/pod-state.ts'
import { sameStatus } from '../status/same-status.ts'
import { timestamp } from '../status/timestamp.ts'
import { planBudget } from './budget-plan.ts'
import { expectedPods, type ExpectedPods } from './controller-scale.ts'
import { resetStaleDisruption, staleInMs } from './stale-disruption.ts'
import { controllerBounds } from '../limits-table.ts'

/** The prefix of keys of pods whose DisruptionTarget condition may be stale; budgets have plain keys. */
const podPrefix = 'pod:'

/** Maintains the status that evictions read: how many pods may be disrupted now. */
export const disruptionController: ControllerDefinition = {
  name: 'disruption-controller',
  eventComponent: 'controllermanager',
  watches: [
    watch(resources.podDisruptionBudgets, { keysOf: ({ object }) => [keyOfObject(object)] }),
    watch(resources.pods, { keysOf: keysOfPod }),
    watchScaled(resources.replicaSets),
    watchScaled(resources.deployments),
    watchScaled(resources.statefulSets),
    watchScaled(resources.replicationControllers),
  ],
  reconcile(key, context, signal) {
    return key.startsWith(podPrefix)
      ? resetStaleDisruption(key.slice(podPrefix.length), context, signal)
      : reconcileBudget(key, context, signal)
  },
}

function watchScaled<T extends PartialObject>(resource: KnownResource<T>): Watch {
  return watch(resource, {
    keysOf: ({ object }, context) =>
      context
        .informer(resources.podDisruptionBudgets)
        .list(object.metadata.namespace)
        .map(keyOfObject),
  })
}

function keysOfPod({ type, object, old }: Change<Pod>, context: ControllerContext): string[] {
  const pods = old === undefined ? [object] : [object, old]
  const budgets = context
    .informer(resources.podDisruptionBudgets)
    .list(object.metadata.namespace)
    .filter((budget) => pods.some((pod) => selects(budget, pod)))
    .map(keyOfObject)
  const isMarked = type !== 'deleted' && staleInMs(object, context.clock.now()) !== undefined
  return isMarked ? [...budgets, `${podPrefix}${keyOfObject(object)}`] : budgets
}

function selects(budget: PodDisruptionBudget, pod: Pod): boolean {
  return labelSelectorOf(budget.spec?.selector).matches(pod.metadata.labels ?? {})
}

async function reconcileBudget(
  key: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const budget = context.informer(resources.podDisruptionBudgets).get(parseKey(key))
  if (budget === undefined) return
  const pods = context
    .informer(resources.pods)
    .list(budget.metadata.namespace)
    .filter((pod) => selects(budget, pod))
  if (pods.length === 0) tell(budget, 'Normal NoPods', 'No matching pods found', context)
  try {
    const expected = await expectedFor(budget, pods, context, signal)
    return await writeBudget({ budget, pods, expected }, context, signal)
  } catch (error) {
    if (!signal.aborted) await writeFailure(budget, error, context, signal)
    throw error
  }
}

/** Only percentages and maxUnavailable depend on how many pods there should be. */
async function expectedFor(
  budget: PodDisruptionBudget,
  pods: readonly Pod[],
  context: ControllerContext,
  signal: AbortSignal,
): Promise<ExpectedPods> {
  const { minAvailable, maxUnavailable } = budget.spec ?? {}
  if (maxUnavailable === undefined && typeof minAvailable !== 'string') {
    return { count: pods.length, unmanaged: [] }
  }
  try {
    return await expectedPods(pods, context, signal)
  } catch (error) {
    const message = `Failed to calculate the number of expected pods: ${messageOf(error)}`
    tell(budget, 'Warning CalculateExpectedPodCountFailed', message, context)
    throw error
  }
}

interface Budgeted {
  budget: PodDisruptionBudget
  pods: readonly Pod[]
  expected: ExpectedPods
}

async function writeBudget(
  { budget, pods, expected }: Budgeted,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  if (expected.unmanaged.length > 0) {
    tell(budget, 'Warning UnmanagedPods', unmanagedText(budget), context)
  }
  const nowMs = context.clock.now()
  const { disrupted, recheckInMs } = stillDisrupted({ budget, pods }, context)
  const healthy = pods.filter(
    (pod) =>
      pod.metadata.deletionTimestamp === undefined &&
      isPodReady(pod) &&
      disrupted[pod.metadata.name ?? ''] === undefined,
  )
  const plan = planBudget({
    budget,
    healthy: healthy.length,
    podCount: pods.length,
    wantedByControllers: expected.count,
  })
  const isAllowed = plan.disruptionsAllowed > 0
  const text = {
    status: isAllowed ? 'True' : 'False',
    reason: isAllowed ? 'SufficientPods' : 'InsufficientPods',
    message: '',
  }
  const status = {
    ...plan,
    observedGeneration: budget.metadata.generation ?? 0,
    disruptedPods: disrupted,
    conditions: conditionsOf(budget, text, nowMs),
  }
  await write(budget, status, context, signal)
  return recheckInMs === undefined ? undefined : { requeueAfterMs: recheckInMs }
}

/** The selector is shown as Go prints it. */
export function unmanagedText({ spec }: PodDisruptionBudget): string {
  const where = spec?.selector ? selectorText(spec.selector) : 'nil'
  return `Pods selected by this PodDisruptionBudget (selector: ${where}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.`
}

type Selector = NonNullable<NonNullable<PodDisruptionBudget['spec']>['selector']>

function selectorText({ matchLabels = {}, matchExpressions = [] }: Selector): string {
  const labels = Object.keys(matchLabels).toSorted()
  const pairs = labels.map((key) => `${key}: ${matchLabels[key]},`).join('')
  const requirements = matchExpressions.map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  )
  return `&LabelSelector{MatchLabels:map[string]string{${pairs}},MatchExpressions:[]LabelSelectorRequirement{${requirements.join('')}},}`
}

function tell(
  budget: PodDisruptionBudget,
  what: `${'Normal' | 'Warning'} ${string}`,
  message: string,
  context: ControllerContext,
): void {
  const [type, reason = ''] = what.split(' ')
  context.events.event(budget, {
    type: type === 'Warning' ? 'Warning' : 'Normal',
    reason,
    message,
  })
}

/** Nothing may be evicted while it is unknown how much would remain. */
async function writeFailure(
  budget: PodDisruptionBudget,
  error: unknown,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const text = { status: 'False', reason: 'SyncFailed', message: messageOf(error) }
  const before = budget.status ?? { currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }
  const conditions = conditionsOf(budget, text, context.clock.now())
  await write(budget, { ...before, disruptionsAllowed: 0, conditions }, context, signal)
}

async function write(
  budget: PodDisruptionBudget,
  status: PodDisruptionBudgetStatus,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  if (sameStatus(budget.status, status)) return
  await context.client(resources.podDisruptionBudgets).updateStatus({ ...budget, status }, signal)
}

type Conditions = NonNullable<PodDisruptionBudgetStatus['conditions']>

function conditionsOf(
  { metadata, status }: PodDisruptionBudget,
  text: { status: string; reason: string; message: string },
  nowMs: number,
): Conditions {
  const known = status?.conditions?.find((each) => each.type === 'DisruptionAllowed')
  const others = (status?.conditions ?? []).filter((each) => each !== known)
  const lastTransitionTime =
    known?.status === text.status ? known.lastTransitionTime : timestamp(nowMs)
  const own = { type: 'DisruptionAllowed', ...text, lastTransitionTime }
  return [...others, { ...own, observedGeneration: metadata.generation ?? 0 }]
}

const { disruptedMsMax } = controllerBounds.disruptionController

function stillDisrupted(
  { budget, pods }: { budget: PodDisruptionBudget; pods: readonly Pod[] },
  context: ControllerContext,
): { disrupted: Record<string, string>; recheckInMs: number | undefined } {
  const disrupted: Record<string, string> = {}
  let recheckInMs: number | undefined
  for (const pod of pods) {
    const { name = '', deletionTimestamp } = pod.metadata
    const since = budget.status?.disruptedPods?.[name]
    if (since === undefined || deletionTimestamp !== undefined) continue
    const leftMs = Date.parse(since) + disruptedMsMax - context.clock.now()
    if (leftMs >= 0) {
      disrupted[name] = since
      recheckInMs = Math.min(recheckInMs ?? Infinity, leftMs + 1_000)
      continue
    }
    const message = `Pod was expected by PDB ${keyOfObject(budget)} to be deleted but it wasn't`
    context.events.event(pod, { type: 'Warning', reason: 'NotDeleted', message })
  }
  return { disrupted, recheckInMs }
}
