import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetrics, seededRandom } from '@skerry/base'
import { simulatedClock } from '@skerry/testing'
import { createControllerMetrics } from './controller-metrics.ts'
import { WorkQueue } from './work-queue.ts'

const signal = new AbortController().signal

function start() {
  const clock = simulatedClock()
  const metrics = createMetrics()
  const deps = { clock, random: seededRandom(1), metrics: createControllerMetrics(metrics) }
  const values = async (): Promise<Readonly<Record<string, number>>> => {
    const lines = (await metrics.text()).split('\n').filter((line) => /^[a-z]/.test(line))
    return Object.fromEntries(
      lines.map((line) => {
        const at = line.lastIndexOf(' ')
        return [line.slice(0, at), Number(line.slice(at + 1))]
      }),
    )
  }
  return { clock, deps, values }
}

test('a queue reports how many keys wait, for how long, and how long each takes', async () => {
  const { clock, deps, values } = start()
  const queue = new WorkQueue({ name: 'jobs' }, deps)
  for (const key of ['a', 'b', 'a']) queue.add(key)
  await clock.advance(2_000)
  await queue.take(signal)
  await clock.advance(500)
  await queue.take(signal)
  await clock.advance(1_000)
  queue.add('a')
  queue.add('a')
  let now = await values()
  assert.equal(now['workqueue_adds_total{name="jobs"}'], 3)
  assert.equal(now['workqueue_depth{name="jobs"}'], 1)
  assert.equal(now['workqueue_queue_duration_seconds_sum{name="jobs"}'], 4.5)
  assert.equal(now['workqueue_unfinished_work_seconds{name="jobs"}'], 2.5)
  assert.equal(now['workqueue_longest_running_processor_seconds{name="jobs"}'], 1.5)
  assert.equal(now['workqueue_work_duration_seconds_count{name="jobs"}'], undefined)
  queue.done('a')
  queue.done('b')
  await clock.advance(3_000)
  assert.equal(await queue.take(signal), 'a')
  queue.done('a')
  now = await values()
  assert.equal(now['workqueue_depth{name="jobs"}'], 0)
  assert.equal(now['workqueue_queue_duration_seconds_sum{name="jobs"}'], 7.5)
  assert.equal(now['workqueue_work_duration_seconds_count{name="jobs"}'], 3)
  assert.equal(now['workqueue_work_duration_seconds_sum{name="jobs"}'], 2.5)
  assert.equal(now['workqueue_work_duration_seconds_bucket{le="1",name="jobs"}'], 2)
  assert.equal(now['workqueue_unfinished_work_seconds{name="jobs"}'], 0)
})

test('delayed keys count as retries and wait only from when they are due', async () => {
  const { clock, deps, values } = start()
  const queue = new WorkQueue({ name: 'jobs' }, deps)
  queue.addAfter('a', 1_000)
  let now = await values()
  assert.equal(now['workqueue_retries_total{name="jobs"}'], 1)
  assert.equal(now['workqueue_depth{name="jobs"}'], 0)
  await clock.advance(1_000)
  await queue.take(signal)
  now = await values()
  assert.equal(now['workqueue_queue_duration_seconds_sum{name="jobs"}'], 0)
})

test('queues of one name are added up, and one that closed leaves its counts', async () => {
  const { clock, deps, values } = start()
  const [first, second] = [1, 2].map(() => new WorkQueue({ name: 'jobs' }, deps))
  first?.add('a')
  second?.add('b')
  await clock.advance(1_000)
  assert.equal((await values())['workqueue_depth{name="jobs"}'], 2)
  first?.close()
  const now = await values()
  assert.equal(now['workqueue_depth{name="jobs"}'], 1)
  assert.equal(now['workqueue_adds_total{name="jobs"}'], 2)
})

test('reconciliations are counted by result, and terminal errors in a count of their own, too', async () => {
  const { deps, values } = start()
  for (const outcome of ['success', 'requeue_after', 'error', 'terminal_error'] as const) {
    deps.metrics.onReconciled('jobs', outcome)
  }
  const now = await values()
  const total = (result: string) =>
    now[`controller_runtime_reconcile_total{controller="jobs",result="${result}"}`]
  assert.deepEqual(['success', 'requeue_after', 'error'].map(total), [1, 1, 2])
  assert.equal(now['controller_runtime_reconcile_errors_total{controller="jobs"}'], 2)
  assert.equal(now['controller_runtime_terminal_reconcile_errors_total{controller="jobs"}'], 1)
})
