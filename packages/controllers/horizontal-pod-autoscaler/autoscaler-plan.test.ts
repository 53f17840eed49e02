import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HorizontalPodAutoscaler, Pod } from '@skerry/api'
import { planWithMetrics, planWithoutMetrics, type PlanInput } from './autoscaler-plan.ts'
import { groupPods, type PodMetric } from './pod-metrics.ts'
import { requestsOf } from './pod-requests.ts'
import {
  replicasForAverage,
  replicasForShare,
  replicasForUtilization,
  replicasForValue,
} from './replica-count.ts'
import { noMemory, rememberScale, type AutoscalerMemory, type Behavior } from './scaling-rules.ts'

const nowMs = Date.UTC(2026, 0, 1)
const tolerances = { up: 0.1, down: 0.1 }
const ago = (seconds: number): string => new Date(nowMs - seconds * 1000).toISOString()

/** Running and ready for ten minutes, with half a core requested. */
function pod(name: string, more: Partial<Pod['status'] & object> = {}, meta: object = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'shop', ...meta },
    spec: { containers: [{ name: 'app', resources: { requests: { cpu: '500m' } } }] },
    status: {
      phase: 'Running',
      startTime: ago(600),
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: ago(590) }],
      ...more,
    },
  }
}

const metric = (milli: number): PodMetric => ({ atMs: nowMs - 1000, windowMs: 15_000, milli })

interface CountCase {
  name: string
  pods: Pod[]
  milli: Record<string, number>
  target?: number
  replicas: number | RegExp
}

const starting = { startTime: ago(60), conditions: [] }
const utilizationCases: CountCase[] = [
  { name: 'above', pods: [pod('a'), pod('b')], milli: { a: 500, b: 500 }, replicas: 4 },
  { name: 'below', pods: [pod('a'), pod('b')], milli: { a: 100, b: 100 }, replicas: 1 },
  { name: 'tolerance', pods: [pod('a'), pod('b')], milli: { a: 270, b: 270 }, replicas: 2 },
  {
    name: 'a pod without figures is guessed at zero on the way up',
    pods: [pod('a'), pod('b')],
    milli: { a: 500 },
    replicas: 2,
  },
  {
    name: 'and at all it requests on the way down',
    pods: [pod('a'), pod('b')],
    milli: { a: 50 },
    replicas: 2,
  },
  {
    name: 'a pod that starts counts with nothing on the way up',
    pods: [pod('a'), pod('b', starting)],
    milli: { a: 1000, b: 1000 },
    replicas: 4,
  },
  {
    name: 'a pod on its way out does not count',
    pods: [pod('a'), pod('b', {}, { deletionTimestamp: ago(1) })],
    milli: { a: 500, b: 500 },
    replicas: 2,
  },
  { name: 'no figures', pods: [pod('a')], milli: {}, replicas: /did not receive metrics/ },
]

test('replicas follow the usage of pods relative to their requests, with care for pods that report nothing', () => {
  for (const { name, pods, milli, replicas } of utilizationCases) {
    const metrics = new Map(Object.entries(milli).map(([each, value]) => [each, metric(value)]))
    const groups = groupPods(pods, metrics, true, nowMs)
    const input = { currentReplicas: pods.length, metrics, groups, tolerances }
    const decide = () =>
      replicasForUtilization(input, {
        requests: () => requestsOf(pods, 'cpu', ''),
        targetPercent: 50,
      }).replicas
    if (replicas instanceof RegExp) assert.throws(decide, replicas, name)
    else assert.equal(decide(), replicas, name)
  }
})

test('one figure of the whole is a value for all or a share for each', () => {
  const pods = [pod('a'), pod('b')]
  const metrics = new Map([
    ['a', metric(30_000)],
    ['b', metric(10_000)],
  ])
  const groups = groupPods(pods, metrics, false, nowMs)
  const input = { currentReplicas: 2, metrics, groups, tolerances }
  assert.deepEqual(replicasForAverage(input, 10_000), { replicas: 4, milli: 20_000 })
  assert.equal(
    replicasForValue(2, 1.5, tolerances, () => 2),
    3,
  )
  assert.equal(
    replicasForValue(0, 1.5, tolerances, () => 0),
    2,
  )
  assert.deepEqual(replicasForShare(2, 50_000, 10_000, tolerances), { replicas: 5, milli: 25_000 })
})

test('a pod without requests cannot be judged', () => {
  const silent: Pod = { ...pod('a'), spec: { containers: [{ name: 'app' }] } }
  const message = 'missing request for cpu in container app of Pod a'
  assert.throws(() => requestsOf([silent], 'cpu', ''), { message })
  assert.throws(() => requestsOf([pod('a')], 'cpu', 'other'), /container other not found in Pod a/)
})

function autoscaler(spec: Partial<HorizontalPodAutoscaler['spec']> = {}): HorizontalPodAutoscaler {
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'web', namespace: 'shop' },
    spec: {
      maxReplicas: 20,
      minReplicas: 2,
      scaleTargetRef: { kind: 'Deployment', name: 'web' },
      ...spec,
    },
  }
}

const behavior: Behavior = {
  scaleUp: {
    stabilizationWindowSeconds: 0,
    selectPolicy: 'Max',
    policies: [{ type: 'Pods', value: 3, periodSeconds: 60 }],
  },
  scaleDown: {
    stabilizationWindowSeconds: 60,
    selectPolicy: 'Min',
    policies: [
      { type: 'Percent', value: 50, periodSeconds: 60 },
      { type: 'Pods', value: 2, periodSeconds: 60 },
    ],
  },
}

const wanted = (seconds: number, replicas: number): AutoscalerMemory => ({
  ...noMemory,
  recommendations: [{ atMs: nowMs - seconds * 1000, replicas }],
})

const planCases: [
  name: string,
  input: Partial<PlanInput> & { currentReplicas: number },
  desired: number,
  replicas: number,
  able: string,
  limited: string,
][] = [
  ['in range', { currentReplicas: 4 }, 6, 6, 'ReadyForNewScale', 'False DesiredWithinRange'],
  ['twice at most', { currentReplicas: 4 }, 15, 8, 'ReadyForNewScale', 'True ScaleUpLimit'],
  ['four at least', { currentReplicas: 2 }, 9, 4, 'ReadyForNewScale', 'True ScaleUpLimit'],
  ['the maximum', { currentReplicas: 15 }, 25, 20, 'ReadyForNewScale', 'True TooManyReplicas'],
  [
    'the minimum',
    { currentReplicas: 4, memory: noMemory },
    1,
    2,
    'ReadyForNewScale',
    'True TooFewReplicas',
  ],
  [
    'a dip does not count yet',
    { currentReplicas: 6, memory: wanted(200, 6) },
    3,
    6,
    'ScaleDownStabilized',
    'False DesiredWithinRange',
  ],
  [
    'a dip that lasts does',
    { currentReplicas: 6, memory: wanted(400, 6) },
    3,
    3,
    'ReadyForNewScale',
    'False DesiredWithinRange',
  ],
  [
    'a policy for the way up',
    { currentReplicas: 4, autoscaler: autoscaler({ behavior }) },
    15,
    7,
    'ReadyForNewScale',
    'True ScaleUpLimit',
  ],
  [
    'recently added pods count',
    {
      currentReplicas: 6,
      autoscaler: autoscaler({ behavior }),
      memory: rememberScale(noMemory, { from: 4, to: 6, atMs: nowMs - 30_000 }, behavior),
    },
    15,
    7,
    'ReadyForNewScale',
    'True ScaleUpLimit',
  ],
  [
    'the policy that changes least on the way down',
    { currentReplicas: 10, autoscaler: autoscaler({ behavior }), memory: noMemory },
    3,
    8,
    'ReadyForNewScale',
    'True ScaleDownLimit',
  ],
  [
    'a window of its own',
    { currentReplicas: 10, autoscaler: autoscaler({ behavior }), memory: wanted(30, 10) },
    3,
    10,
    'ScaleDownStabilized',
    'False DesiredWithinRange',
  ],
]

test('the replicas that metrics ask for stay within bounds, windows and rates', () => {
  for (const [name, input, desired, replicas, able, limited] of planCases) {
    const whole = { autoscaler: autoscaler(), memory: undefined, nowMs, ...input }
    const plan = planWithMetrics(whole, { desired, metric: 'cpu' })
    const [first, second] = plan.conditions
    assert.deepEqual(
      [plan.replicas, first?.reason, `${second?.status} ${second?.reason}`],
      [replicas, able, limited],
      name,
    )
  }
})

test('bounds hold without any metric, and zero replicas turn an autoscaler off', () => {
  const plan = (currentReplicas: number) =>
    planWithoutMetrics({ autoscaler: autoscaler(), currentReplicas, memory: undefined, nowMs })
  assert.equal(plan(30)?.replicas, 20)
  assert.equal(plan(1)?.why, 'Current number of replicas below Spec.MinReplicas')
  assert.equal(plan(0)?.conditions[0]?.reason, 'ScalingDisabled')
  assert.equal(plan(5), undefined)
})
