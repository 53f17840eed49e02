import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Job, JobSpec, JobStatus, Pod } from '@skerry/api'
import { IndexSet } from './index-intervals.ts'
import { planJob, type JobPlan } from './job-plan.ts'
import { trackingFinalizer } from './job-pods.ts'

const nowMs = Date.parse('2026-01-01T12:00:00Z')
const ago = (seconds: number): string =>
  `${new Date(nowMs - seconds * 1000).toISOString().slice(0, 19)}Z`

function job(spec: Partial<JobSpec>, status: JobStatus = {}): Job {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'j', namespace: 'a', uid: 'j' },
    spec: {
      parallelism: 1,
      completions: 1,
      backoffLimit: 6,
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } },
      ...spec,
    },
    status: { startTime: ago(60), ...status },
  }
}

interface Traits {
  phase?: string
  index?: number
  endedSeconds?: number
  exitCode?: number
  isReleased?: boolean
  isGoing?: boolean
  failures?: number
}

function pod(uid: string, traits: Traits): Pod {
  const { phase = 'Running', index, endedSeconds = 0, exitCode = 1, isReleased, isGoing } = traits
  const isEnded = phase === 'Succeeded' || phase === 'Failed'
  const terminated = { exitCode, finishedAt: ago(endedSeconds) }
  const annotations = {
    ...(index === undefined ? {} : { 'batch.kubernetes.io/job-completion-index': String(index) }),
    'batch.kubernetes.io/job-index-failure-count': String(traits.failures ?? 0),
  }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: uid,
      namespace: 'a',
      uid,
      annotations,
      creationTimestamp: ago(100),
      finalizers: isReleased ? [] : [trackingFinalizer],
      ...(isGoing ? { deletionTimestamp: ago(1) } : {}),
    },
    spec: { containers: [] },
    status: {
      phase,
      containerStatuses: [
        {
          name: 'c',
          image: '',
          imageID: '',
          ready: false,
          restartCount: 0,
          ...(isEnded ? { state: { terminated } } : {}),
        },
      ],
    },
  }
}

const conditions = ({ status }: JobPlan): string[] =>
  (status.conditions ?? []).map(({ type, reason }) => `${type} ${reason}`)
const names = (pods: readonly Pod[]): string[] => pods.map(({ metadata }) => metadata.uid ?? '')

test('parallelism and the remaining work decide how many pods run', () => {
  const wide = { parallelism: 3, completions: 5 }
  assert.equal(planJob({ job: job(wide), pods: [], nowMs }).create.length, 3)
  const late = job(wide, { succeeded: 4 })
  assert.equal(planJob({ job: late, pods: [], nowMs }).create.length, 1)
  const running = [pod('a', {}), pod('b', {}), pod('c', {})]
  const narrow = planJob({ job: job({ parallelism: 1, completions: 5 }), pods: running, nowMs })
  assert.equal(narrow.remove.length, 2)
})

test('an ended pod is recorded first, then released, and counted when it is free', () => {
  const ended = pod('a', { phase: 'Succeeded', exitCode: 0 })
  const first = planJob({ job: job({ completions: 2 }), pods: [ended], nowMs })
  assert.deepEqual(first.status.uncountedTerminatedPods, { succeeded: ['a'] })
  assert.equal(first.status.succeeded, 0)
  assert.deepEqual(names(first.release), ['a'])

  const freed = pod('a', { phase: 'Succeeded', exitCode: 0, isReleased: true })
  const second = planJob({ job: job({ completions: 2 }, first.status), pods: [freed], nowMs })
  assert.deepEqual(second.status.uncountedTerminatedPods, {})
  assert.equal(second.status.succeeded, 1)
  const third = planJob({ job: job({ completions: 2 }, second.status), pods: [freed], nowMs })
  assert.equal(third.status.succeeded, 1)
})

test('the last condition waits until every pod is counted and gone', () => {
  const ended = pod('a', { phase: 'Succeeded', exitCode: 0 })
  const first = planJob({ job: job({}), pods: [ended], nowMs })
  assert.deepEqual(conditions(first), ['SuccessCriteriaMet CompletionsReached'])
  assert.equal(first.finished, undefined)
  const freed = pod('a', { phase: 'Succeeded', exitCode: 0, isReleased: true })
  const going = pod('b', { isGoing: true, isReleased: true })
  const second = planJob({ job: job({}, first.status), pods: [freed, going], nowMs })
  assert.equal(second.finished, undefined)
  const last = planJob({ job: job({}, second.status), pods: [freed], nowMs })
  assert.deepEqual(conditions(last), [
    'SuccessCriteriaMet CompletionsReached',
    'Complete CompletionsReached',
  ])
  assert.equal(last.status.succeeded, 1)
  assert.ok(last.status.completionTime)
})

const failed = (uid: string, endedSeconds: number): Pod =>
  pod(uid, { phase: 'Failed', endedSeconds, isReleased: true })

test('after failures the next pod waits, twice as long each time, and a success resets it', () => {
  const wait = (pods: readonly Pod[]): number | undefined =>
    planJob({ job: job({ completions: 5 }, { failed: pods.length }), pods, nowMs }).requeueAfterMs
  assert.equal(wait([failed('a', 3)]), 7_000)
  assert.equal(wait([failed('a', 30), failed('b', 3)]), 17_000)
  const success = pod('s', { phase: 'Succeeded', exitCode: 0, endedSeconds: 4, isReleased: true })
  assert.equal(wait([failed('a', 30), success, failed('b', 3)]), 7_000)
  assert.equal(wait([failed('a', 11)]), undefined)
})

test('past its backoff limit a job ends its pods and counts them as failed', () => {
  const pods = [pod('a', { phase: 'Failed' }), pod('b', {})]
  const plan = planJob({ job: job({ backoffLimit: 0, completions: 3 }), pods, nowMs })
  assert.deepEqual(names(plan.end), ['b'])
  assert.deepEqual(conditions(plan), ['FailureTarget BackoffLimitExceeded'])
  assert.deepEqual(plan.status.uncountedTerminatedPods?.failed, ['a', 'b'])
})

test('a job past its deadline fails, and one before it is looked at again in time', () => {
  const early = planJob({ job: job({ activeDeadlineSeconds: 90 }), pods: [pod('a', {})], nowMs })
  assert.equal(early.requeueAfterMs, 30_000)
  const late = planJob({ job: job({ activeDeadlineSeconds: 60 }), pods: [pod('a', {})], nowMs })
  assert.deepEqual(conditions(late), ['FailureTarget DeadlineExceeded'])
})

const policy = (action: string): Partial<JobSpec> => ({
  podFailurePolicy: {
    rules: [{ action, onExitCodes: { operator: 'In', values: [42] } }],
  },
})

test('a failure policy ignores failures, or lets one of them fail the job', () => {
  const pods = [pod('a', { phase: 'Failed', exitCode: 42, endedSeconds: 20 })]
  const ignored = planJob({ job: job({ ...policy('Ignore'), backoffLimit: 0 }), pods, nowMs })
  assert.deepEqual(conditions(ignored), [])
  assert.equal(ignored.create.length, 1)
  const fatal = planJob({ job: job(policy('FailJob')), pods, nowMs })
  assert.deepEqual(conditions(fatal), ['FailureTarget PodFailurePolicy'])
  assert.equal(
    fatal.status.conditions?.[0]?.message,
    'Container c for pod a/a failed with exit code 42 matching FailJob rule at index 0',
  )
})

test('an indexed job runs each index once and replaces those that failed', () => {
  const indexed = { completionMode: 'Indexed', completions: 4, parallelism: 4 }
  const pods = [
    pod('a', { phase: 'Succeeded', index: 0, exitCode: 0 }),
    pod('b', { index: 2 }),
    pod('c', { phase: 'Failed', index: 3, endedSeconds: 30 }),
  ]
  const plan = planJob({ job: job(indexed), pods, nowMs })
  assert.deepEqual(
    plan.create.map(({ index }) => index),
    [1, 3],
  )
  assert.equal(plan.status.completedIndexes, '0')
})

test('with a limit per index an index fails by itself, and the job when no other is left', () => {
  const indexed = {
    completionMode: 'Indexed',
    completions: 2,
    parallelism: 2,
    backoffLimitPerIndex: 1,
    backoffLimit: 100,
  }
  const first = pod('a', { phase: 'Failed', index: 0, failures: 0, endedSeconds: 30 })
  const retried = planJob({ job: job(indexed), pods: [first], nowMs })
  assert.deepEqual(retried.create[0], { index: 0, failures: { counted: 1, ignored: 0 } })
  const second = pod('b', { phase: 'Failed', index: 0, failures: 1 })
  const other = pod('c', { phase: 'Succeeded', index: 1, exitCode: 0 })
  const over = planJob({ job: job(indexed), pods: [second, other], nowMs })
  assert.equal(over.status.failedIndexes, '0')
  assert.deepEqual(conditions(over), ['FailureTarget FailedIndexes'])
})

test('a success policy ends a job early', () => {
  const indexed = {
    completionMode: 'Indexed',
    completions: 5,
    parallelism: 5,
    successPolicy: { rules: [{ succeededIndexes: '0-2', succeededCount: 2 }] },
  }
  const pods = [
    pod('a', { phase: 'Succeeded', index: 0, exitCode: 0 }),
    pod('b', { phase: 'Succeeded', index: 2, exitCode: 0 }),
    pod('c', { index: 4 }),
  ]
  const plan = planJob({ job: job(indexed), pods, nowMs })
  assert.deepEqual(conditions(plan), ['SuccessCriteriaMet SuccessPolicy'])
  assert.deepEqual(names(plan.end), ['c'])
})

test('a suspended job removes its pods without counting them, and starts again when resumed', () => {
  const suspended = planJob({ job: job({ suspend: true }), pods: [pod('a', {})], nowMs })
  assert.deepEqual(names(suspended.remove), ['a'])
  assert.deepEqual(suspended.status.uncountedTerminatedPods, {})
  assert.equal(suspended.suspendChange, 'Suspended')
  const resumed = planJob({ job: job({}, suspended.status), pods: [], nowMs })
  assert.equal(resumed.suspendChange, 'Resumed')
  assert.equal(resumed.status.startTime, ago(0))
})

const sets: [string, number, string][] = [
  ['', 10, ''],
  ['0,1,2,5', 10, '0-2,5'],
  ['0-3,7-9', 8, '0-3,7'],
  ['3,4', 10, '3,4'],
  ['x,2', 10, '2'],
]
for (const [text, limit, expected] of sets) {
  test(`indexes "${text}" below ${limit} are written "${expected}"`, () => {
    assert.equal(IndexSet.parse(text, limit).toString(), expected)
  })
}
