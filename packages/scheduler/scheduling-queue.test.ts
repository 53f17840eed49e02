import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedClock } from '@skerry/base'
import type { ClusterEvent } from './framework/cluster-event.ts'
import { SchedulingQueue } from './scheduling-queue.ts'
import { node, pod } from './testing/scheduling-world.ts'

const helpful: ClusterEvent = { kind: 'node-added', node: node('a') }
const useless: ClusterEvent = { kind: 'csi-driver' }
const refusedBy = new Set(['NodeResourcesFit'])

function queueOf() {
  const clock = simulatedClock()
  const helps = (event: ClusterEvent): boolean => event.kind === 'node-added'
  const queue = new SchedulingQueue({ clock, onReady: () => undefined, helps })
  return { clock, queue, taken: () => queue.take()?.pod.metadata.name }
}

test('the most important pod comes first, then the one that came first', () => {
  const { queue, taken } = queueOf()
  using _ = queue
  const [first, second] = [pod({}), pod({})]
  const urgent = pod({ priority: 5 })
  for (const each of [first, second, urgent]) queue.put(each, false)
  const names = [urgent, first, second].map(({ metadata }) => metadata.name)
  assert.deepEqual([taken(), taken(), taken(), taken()], [...names, undefined])
})

test('a pod without a node is tried again only after a change that could help it', async () => {
  const { queue, clock, taken } = queueOf()
  using _ = queue
  const each = pod({})
  const { name, uid = '' } = each.metadata
  queue.put(each, false)
  assert.equal(taken(), name)
  queue.giveBack(uid, refusedBy)
  queue.onEvent(useless)
  assert.equal(taken(), undefined)
  queue.onEvent(helpful)
  assert.equal(taken(), name)
  queue.onEvent(helpful)
  queue.giveBack(uid, refusedBy)
  assert.equal(taken(), name, 'an event that came while it was tried counts')
  queue.giveBack(uid, refusedBy)
  assert.equal(taken(), undefined)
  await clock.advance(5 * 60_000)
  assert.equal(taken(), name, 'after five minutes in any case')
})

test('after an error a pod waits its backoff, whatever happens', async () => {
  const { queue, clock, taken } = queueOf()
  using _ = queue
  const each = pod({})
  queue.put(each, false)
  taken()
  queue.retry(each.metadata.uid ?? '')
  queue.onEvent(helpful)
  assert.equal(taken(), undefined)
  await clock.advance(1_000)
  assert.equal(taken(), each.metadata.name)
})

test('pods that are ready go before those in backoff', () => {
  const { queue, taken } = queueOf()
  using _ = queue
  const [waiting, ready] = [pod({ priority: 9 }), pod({})]
  queue.put(waiting, false)
  taken()
  queue.giveBack(waiting.metadata.uid ?? '', refusedBy)
  queue.onEvent(helpful)
  queue.put(ready, false)
  assert.deepEqual([taken(), taken()], [ready.metadata.name, waiting.metadata.name])
})
