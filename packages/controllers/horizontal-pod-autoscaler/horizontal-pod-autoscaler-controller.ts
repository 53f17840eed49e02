import { asError, isBrokenInvariant, messageOf } from '@skerry/base'
import {
  parseLabelSelector,
  type HorizontalPodAutoscaler,
  type HorizontalPodAutoscalerStatus,
  type MetricStatus,
  type Pod,
} from '@skerry/api'
import { parseKey, keyOfObject, resources, type Discovery } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
} from '@skerry/controller-runtime'
import { sameStatus } from '../status/same-status.ts'
import {
  behaviorOf,
  falseCondition,
  judgeMetrics,
  planWithMetrics,
  planWithoutMetrics,
  statusOf,
  trueCondition,
  withConditions,
  type ConditionText,
  type MetricResult,
  type PlanInput,
  type ScalePlan,
} from './autoscaler-plan.ts'
import { createMetricsClient, type MetricsClient } from './metrics-client.ts'
import { MetricError, proposeFor } from './metric-proposal.ts'
import { createRecentDiscovery } from './recent-discovery.ts'
import { readScale, type ScaleTarget } from './scale-target.ts'
import { rememberScale, type AutoscalerMemory } from './scaling-rules.ts'
import { autoscalerDefaults } from '../limits-table.ts'

/** Scales workloads as their metrics require, each autoscaler every fifteen seconds. */
export const horizontalPodAutoscalerController: ControllerDefinition = {
  name: 'horizontal-pod-autoscaler',
  watches: [
    watch(resources.horizontalPodAutoscalers, {
      keysOf: ({ object }) => [keyOfObject(object)],
      delayMs: autoscalerDefaults.syncMs,
    }),
    watch(resources.pods, { keysOf: () => [] }),
  ],
  reconcile,
}

/** The state of one run of the controller. After a restart another run begins without it. */
interface State {
  readonly memories: Map<string, AutoscalerMemory>
  readonly selectors: Map<string, SelectorText>
  readonly discovery: (signal: AbortSignal) => Promise<Discovery>
  readonly client: MetricsClient
}

type SelectorText = ReturnType<typeof parseLabelSelector>

const states = new WeakMap<ControllerContext, State>()

function stateOf(context: ControllerContext): State {
  const known = states.get(context)
  if (known) return known
  const discovery = createRecentDiscovery(context.cluster, context.clock)
  const client = createMetricsClient(context.cluster, discovery)
  const state = { memories: new Map(), selectors: new Map(), discovery, client }
  states.set(context, state)
  return state
}

async function reconcile(
  key: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const state = stateOf(context)
  const autoscaler = context.informer(resources.horizontalPodAutoscalers).get(parseKey(key))
  if (autoscaler === undefined) {
    state.memories.delete(key)
    state.selectors.delete(key)
    return
  }
  try {
    await autoscale({ key, autoscaler, state, context }, signal)
  } catch (error) {
    signal.throwIfAborted()
    // The runtime reports mistakes in this program. No other failed turn is repeated early, because
    // there are no fresher figures before the next turn.
    if (isBrokenInvariant(error)) throw error
    context.log.info('Autoscaler did not scale', { key, error: asError(error) })
  }
  return { requeueAfterMs: autoscalerDefaults.syncMs }
}

interface Turn {
  readonly key: string
  readonly autoscaler: HorizontalPodAutoscaler
  readonly state: State
  readonly context: ControllerContext
}

async function autoscale(turn: Turn, signal: AbortSignal): Promise<void> {
  const { autoscaler, state, context, key } = turn
  const target = await scaleOrReport(turn, signal)
  if (!target) return
  const conditions = [
    trueCondition(
      'AbleToScale',
      'SucceededGetScale',
      "the HPA controller was able to get the target's current scale",
    ),
  ]
  const input: PlanInput = {
    autoscaler,
    currentReplicas: target.specReplicas,
    memory: state.memories.get(key),
    nowMs: context.clock.now(),
  }
  const simple = planWithoutMetrics(input)
  if (simple) {
    const plan = { ...simple, conditions: [...conditions, ...simple.conditions] }
    return carryOut({ turn, target, plan, metrics: [] }, signal)
  }
  const selection = selectPods(turn, target)
  if ('refusal' in selection) {
    const { reason, message, condition } = selection.refusal
    warn(turn, reason, message)
    conditions.push(condition)
    await reportFailure({ turn, target, conditions, metrics: [], message }, signal)
    return
  }
  const results = await askMetrics(turn, target, selection.pods, signal)
  const verdict = judgeMetrics(results, target.specReplicas)
  conditions.push(verdict.condition)
  const { replicas: desired, metric, statuses: metrics, failure = '' } = verdict
  if (desired === undefined) {
    await reportFailure({ turn, target, conditions, metrics, message: failure }, signal)
    return
  }
  if (failure !== '') context.log.info('Some metrics have no value', { key, failure })
  const plan = planWithMetrics(input, { desired, metric })
  const whole = { ...plan, conditions: [...conditions, ...plan.conditions] }
  await carryOut({ turn, target, plan: whole, metrics }, signal)
}

async function scaleOrReport(turn: Turn, signal: AbortSignal): Promise<ScaleTarget | undefined> {
  const { autoscaler, state, context } = turn
  const { scaleTargetRef } = autoscaler.spec
  const namespace = autoscaler.metadata.namespace ?? ''
  const deps = { cluster: context.cluster, discovery: state.discovery }
  try {
    return await readScale(scaleTargetRef, namespace, deps, signal)
  } catch (error) {
    signal.throwIfAborted()
    const why = messageOf(error)
    warn(turn, 'FailedGetScale', why)
    const message = `the HPA controller was unable to get the target's current scale: ${why}`
    const change = falseCondition('AbleToScale', 'FailedGetScale', message)
    const conditions = withConditions(
      autoscaler.status?.conditions ?? [],
      [change],
      context.clock.now(),
    )
    await writeStatus(turn, { desiredReplicas: 0, ...autoscaler.status, conditions }, signal)
    return undefined
  }
}

type Selection =
  | { readonly pods: readonly Pod[] }
  | {
      readonly refusal: {
        readonly reason: string
        readonly message: string
        readonly condition: ConditionText
      }
    }

/** Returns the scaled pods, unless another autoscaler scales some of them as well. */
function selectPods(
  { key, autoscaler, state, context }: Turn,
  { selector }: ScaleTarget,
): Selection {
  const refusal = (reason: string, message: string, shown = message, shownReason = reason) => ({
    refusal: { reason, message, condition: falseCondition('ScalingActive', shownReason, shown) },
  })
  if (selector === '') {
    const shown = "the HPA target's scale is missing a selector"
    return refusal('SelectorRequired', 'selector is required', shown, 'InvalidSelector')
  }
  let parsed: SelectorText
  try {
    parsed = parseLabelSelector(selector)
  } catch (error) {
    const why = messageOf(error)
    const what = `couldn't convert selector into a corresponding internal selector object: ${why}`
    return refusal('InvalidSelector', what)
  }
  state.selectors.set(key, parsed)
  const { namespace = '' } = autoscaler.metadata
  const pods = context
    .informer(resources.pods)
    .list(namespace)
    .filter(({ metadata }) => parsed.matches(metadata.labels))
  const claimants = [...state.selectors]
    .filter(([other]) => parseKey(other).namespace === namespace)
    .filter(([, others]) => pods.some(({ metadata }) => others.matches(metadata.labels)))
    .map(([other]) => other)
    .toSorted()
  if (claimants.length > 1) {
    const list = `[${claimants.join(' ')}]`
    const what = `pods by selector ${selector} are controlled by multiple HPAs: ${list}`
    return refusal('AmbiguousSelector', what)
  }
  return { pods }
}

async function askMetrics(
  turn: Turn,
  target: ScaleTarget,
  pods: readonly Pod[],
  signal: AbortSignal,
): Promise<MetricResult[]> {
  const { autoscaler, state, context } = turn
  const input = { ...target, autoscaler, pods, nowMs: context.clock.now(), client: state.client }
  const results: MetricResult[] = []
  for (const spec of autoscaler.spec.metrics ?? []) {
    try {
      results.push({ proposal: await proposeFor(spec, input, signal) })
    } catch (error) {
      if (!(error instanceof MetricError)) throw error
      warn(turn, error.reason, error.detail)
      results.push({ error })
    }
  }
  return results
}

async function carryOut(
  parts: { turn: Turn; target: ScaleTarget; plan: ScalePlan; metrics: readonly MetricStatus[] },
  signal: AbortSignal,
): Promise<void> {
  const { turn, target, plan, metrics } = parts
  const { key, autoscaler, state, context } = turn
  const { specReplicas: from } = target
  const { replicas: to, why } = plan
  const isRescaled = to !== from
  const conditions = [...plan.conditions]
  state.memories.set(key, plan.memory)
  if (isRescaled) {
    try {
      await target.update(to, signal)
    } catch (error) {
      signal.throwIfAborted()
      const text = messageOf(error)
      warn(turn, 'FailedRescale', `New size: ${to}; reason: ${why}; error: ${text}`)
      const message = `the HPA controller was unable to update the target scale: ${text}`
      conditions.push(falseCondition('AbleToScale', 'FailedUpdateScale', message))
      await writeTurn(parts, { conditions, desired: undefined, isRescaled: false }, signal)
      throw error
    }
    const message = `the HPA controller was able to update the target scale to ${to}`
    conditions.push(trueCondition('AbleToScale', 'SucceededRescale', message))
    const text = `New size: ${to}; reason: ${why}`
    context.events.event(autoscaler, { type: 'Normal', reason: 'SuccessfulRescale', message: text })
    const change = { from, to, atMs: context.clock.now() }
    state.memories.set(key, rememberScale(plan.memory, change, behaviorOf(autoscaler)))
  }
  await writeTurn({ turn, target, metrics }, { conditions, desired: to, isRescaled }, signal)
}

async function reportFailure(
  parts: {
    turn: Turn
    target: ScaleTarget
    conditions: readonly ConditionText[]
    metrics: readonly MetricStatus[]
    message: string
  },
  signal: AbortSignal,
): Promise<void> {
  const { conditions, message } = parts
  await writeTurn(parts, { conditions, desired: undefined, isRescaled: false }, signal)
  warn(parts.turn, 'FailedComputeMetricsReplicas', message)
}

async function writeTurn(
  parts: { turn: Turn; target: ScaleTarget; metrics: readonly MetricStatus[] },
  outcome: {
    conditions: readonly ConditionText[]
    /** The desired replicas. If undefined, they stay as they are. */
    desired: number | undefined
    isRescaled: boolean
  },
  signal: AbortSignal,
): Promise<void> {
  const { turn, target, metrics } = parts
  const { status } = turn.autoscaler
  const nowMs = turn.context.clock.now()
  const { conditions, desired, isRescaled } = outcome
  const next = statusOf(status, {
    currentReplicas: target.specReplicas,
    desiredReplicas: desired ?? status?.desiredReplicas ?? 0,
    metrics,
    conditions: withConditions(status?.conditions ?? [], conditions, nowMs),
    isRescaled,
    nowMs,
  })
  await writeStatus(turn, next, signal)
}

async function writeStatus(
  turn: Turn,
  status: HorizontalPodAutoscalerStatus,
  signal: AbortSignal,
): Promise<void> {
  const { autoscaler, context } = turn
  if (sameStatus(autoscaler.status, status)) return
  try {
    const client = context.client(resources.horizontalPodAutoscalers)
    await client.updateStatus({ ...autoscaler, status }, signal)
  } catch (error) {
    signal.throwIfAborted()
    const why = messageOf(error)
    warn(turn, 'FailedUpdateStatus', why)
    throw error
  }
}

function warn({ autoscaler, context }: Turn, reason: string, message: string): void {
  context.events.event(autoscaler, { type: 'Warning', reason, message })
}
