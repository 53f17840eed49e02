import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linkedSignal, silentLogger, simulatedClock, systemRandom } from '@skerry/base'
import { createCluster, readBody, type Transport } from '@skerry/client'
import { startTestApiServer, type SimulatedClock } from '@skerry/testing'
import { leadInCluster } from './lead-in-cluster.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)

/** An agent of the cluster `shop` that wants to lead. */
function candidate(transport: Transport, clock: SimulatedClock, identity: string) {
  const stop = linkedSignal(soon())
  const leads = Promise.withResolvers<void>()
  const log = silentLogger
  const local = createCluster(transport, { clock, log, userAgent: identity })
  const state = { isLeading: false }
  const task = async (scope: AbortSignal): Promise<void> => {
    state.isLeading = true
    leads.resolve()
    const ended = Promise.withResolvers<void>()
    scope.addEventListener('abort', () => ended.resolve(), { once: true })
    await ended.promise
    state.isLeading = false
  }
  const deps = { local, clock, random: systemRandom, log }
  const running = leadInCluster({ clusterName: 'shop', identity }, deps, stop.signal, task).catch(
    (error: unknown) => {
      if (!stop.signal.aborted) throw error
    },
  )
  return {
    state,
    leads: leads.promise,
    async stop(): Promise<void> {
      stop.abort(new Error('the agent ends'))
      await running
    },
  }
}

/** The transport, what is under way in it, and a promise of so many answers. */
function counted(target: Transport, answersMin: number) {
  const { promise: answered, resolve } = Promise.withResolvers<void>()
  const count = { underWay: 0, answers: 0 }
  const transport: Transport = {
    async send(request, scope) {
      count.underWay += 1
      try {
        const answer = await target.send(request, scope)
        const whole = await readBody(answer.body)
        count.answers += 1
        if (count.answers === answersMin) resolve()
        return { ...answer, body: once(whole) }
      } finally {
        count.underWay -= 1
      }
    },
  }
  return { transport, answered, count }
}

async function* once(whole: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield whole
}

test('one of two agents of a cluster leads, and the other takes over when it ends', async () => {
  await using server = await startTestApiServer()
  const clock = simulatedClock()
  const first = candidate(server.transport, clock, 'first')
  await first.leads
  // It checks its rights, and then reads the leader.
  const { transport, answered, count } = counted(server.transport, 2)
  const second = candidate(transport, clock, 'second')
  await answered
  assert.deepEqual([first.state.isLeading, second.state.isLeading], [true, false])
  await first.stop()
  const waiting = new AbortController()
  const ticking = pass(clock, count, waiting.signal)
  await second.leads
  waiting.abort()
  await ticking
  assert.deepEqual([first.state.isLeading, second.state.isLeading], [false, true])
  await second.stop()
})

test('an agent that may not have a Lease in its cluster works all the same', async () => {
  await using server = await startTestApiServer({ withAccess: true })
  const nobody = server.transportAs({ name: 'nobody', groups: ['system:authenticated'], extra: {} })
  const agent = candidate(nobody, simulatedClock(), 'only')
  await agent.leads
  await agent.stop()
})

/** A second after the other while nothing is asked, until the signal aborts. */
async function pass(
  clock: SimulatedClock,
  count: { readonly underWay: number },
  until: AbortSignal,
): Promise<void> {
  while (!until.aborted) {
    if (count.underWay === 0) await clock.advance(1_000)
    else await new Promise((resolve) => setImmediate(resolve))
  }
}
