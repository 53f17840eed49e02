import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom, silentLogger } from '@skerry/base'
import type { Lease } from '@skerry/api'
import {
  createCluster,
  readBody,
  resources,
  type Transport,
  type TransportRequest,
} from '@skerry/client'
import { simulatedClock, startTestApiServer, until, type SimulatedClock } from '@skerry/testing'
import { fencedTransport } from './fenced-transport.ts'
import { LeaseLostError, runAsLeader, type Leadership } from './leader-election.ts'

const lease = { namespace: 'kube-system', name: 'test' }

/** A candidate's connection to the server, which a test can cut. */
interface Line extends Transport {
  isCut: boolean
  /** True if writes arrive but their answers do not come back. */
  losesAnswers: boolean
  underWay: number
}

interface Candidate extends AsyncDisposable {
  readonly line: Line
  readonly leads: () => boolean
}

function lineTo(target: Transport): Line {
  const line: Line = {
    isCut: false,
    losesAnswers: false,
    underWay: 0,
    async send(request: TransportRequest, signal: AbortSignal) {
      if (line.isCut) throw new Error('cut')
      line.underWay++
      try {
        const answer = await target.send(request, signal)
        const whole = await readBody(answer.body)
        if (line.losesAnswers && request.method === 'PUT') await aborted(signal)
        return { ...answer, body: once(whole) }
      } finally {
        line.underWay--
      }
    },
  }
  return line
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

async function* once(whole: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield whole
}

function stand(identity: string, clock: SimulatedClock, target: Transport): Candidate {
  const line = lineTo(target)
  const deps = { clock, random: seededRandom(1), log: silentLogger }
  const cluster = createCluster(line, { ...deps, userAgent: identity })
  const controller = new AbortController()
  let isLeading = false
  const running = runAsLeader(
    { ...lease, identity },
    { ...deps, cluster },
    controller.signal,
    (scope) => {
      isLeading = true
      return new Promise((_, reject) => {
        scope.addEventListener('abort', () => {
          isLeading = false
          reject(scope.reason)
        })
      })
    },
  ).catch((error: unknown) => error)
  return {
    line,
    leads: () => isLeading,
    async [Symbol.asyncDispose]() {
      controller.abort(new Error('stopped'))
      await running
    },
  }
}

/** Moves time in small steps, and lets every request finish between two steps. */
async function pass(
  { clock, candidates }: { clock: SimulatedClock; candidates: readonly Candidate[] },
  ms: number,
  until: () => boolean,
): Promise<boolean> {
  for (let passed = 0; passed <= ms && !until(); passed += 500) {
    for (let quietTurns = 0; quietTurns < 5; quietTurns++) {
      await clock.advance(0)
      if (candidates.some(({ line }) => line.underWay > 0)) quietTurns = 0
    }
    if (!until()) await clock.advance(500)
  }
  return until()
}

test('one candidate leads, and the next takes over at once when it goes in good order', async () => {
  await using api = await startTestApiServer()
  const clock = simulatedClock()
  const first = stand('first', clock, api.transport)
  await using second = stand('second', clock, api.transport)
  await using _first = first
  const world = { clock, candidates: [first, second] }
  assert.ok(await pass(world, 5_000, () => first.leads() || second.leads()))
  const [leader, other] = first.leads() ? [first, second] : [second, first]
  assert.ok(!(await pass(world, 30_000, () => other.leads())))
  assert.ok(leader.leads())
  await leader[Symbol.asyncDispose]()
  assert.ok(await pass(world, 6_000, () => other.leads()), 'a released lease was not taken')

  const cluster = createCluster(api.transport, { log: silentLogger, clock, userAgent: 'test' })
  const { signal } = new AbortController()
  const held: Lease = await cluster.resource(resources.leases).get(lease, signal)
  assert.equal(held.spec?.holderIdentity, other === first ? 'first' : 'second')
})

test('a leader that stops while it renews lets the next one in at once, too', async () => {
  await using api = await startTestApiServer()
  const clock = simulatedClock()
  await using first = stand('first', clock, api.transport)
  assert.ok(await pass({ clock, candidates: [first] }, 5_000, () => first.leads()))
  await using second = stand('second', clock, api.transport)
  assert.ok(!(await pass({ clock, candidates: [first, second] }, 10_000, () => second.leads())))
  const client = createCluster(api.transport, { log: silentLogger, clock, userAgent: 'test' })
  const leases = client.resource(resources.leases)
  const { signal } = new AbortController()
  const before = (await leases.get(lease, signal)).metadata.resourceVersion
  first.line.losesAnswers = true
  await clock.advance(2_000)
  await until(async () => (await leases.get(lease, signal)).metadata.resourceVersion !== before)
  const stopped = first[Symbol.asyncDispose]()
  first.line.losesAnswers = false
  await stopped
  const tookOver = await pass({ clock, candidates: [second] }, 6_000, () => second.leads())
  assert.ok(tookOver, 'a released lease was not taken')
})

test('a leader that is cut off stops before another one starts, and never leads at the same time', async () => {
  await using api = await startTestApiServer()
  const clock = simulatedClock()
  await using first = stand('first', clock, api.transport)
  assert.ok(await pass({ clock, candidates: [first] }, 5_000, () => first.leads()))
  await using second = stand('second', clock, api.transport)
  const world = { clock, candidates: [first, second] }
  assert.ok(!(await pass(world, 10_000, () => second.leads())))
  let together = false
  first.line.isCut = true
  const tookOver = await pass(world, 40_000, () => {
    together ||= first.leads() && second.leads()
    return second.leads()
  })
  assert.ok(tookOver)
  assert.ok(!together)
  assert.ok(!first.leads())
})

test('a wall clock that jumps takes the lead from nobody and gives it to nobody', async () => {
  await using api = await startTestApiServer()
  const clock = simulatedClock()
  await using first = stand('first', clock, api.transport)
  assert.ok(await pass({ clock, candidates: [first] }, 5_000, () => first.leads()))
  // The other candidate is on another machine, whose clock is right; its monotonic time is the same
  // here.
  await using second = stand('second', { ...clock, now: () => 1_700_000_000_000 }, api.transport)
  const world = { clock, candidates: [first, second] }
  for (const days of [-3_650, 1, 730, 4_015, -4_015]) {
    clock.jump(days * 86_400_000)
    const hasChanged = await pass(world, 20_000, () => second.leads() || !first.leads())
    assert.ok(!hasChanged, `${days} days`)
  }
  await first[Symbol.asyncDispose]()
  assert.ok(await pass({ clock, candidates: [second] }, 6_000, () => second.leads()))
})

test('a leader that cannot renew stops within 10 s, though its last renewal hangs', async () => {
  await using api = await startTestApiServer()
  const clock = simulatedClock()
  await using first = stand('first', clock, api.transport)
  const world = { clock, candidates: [first] }
  assert.ok(await pass(world, 5_000, () => first.leads()))
  // Each renewal arrives, and none is answered: the lease looks fresh to others.
  first.line.losesAnswers = true
  for (let passedMs = 0; passedMs < 10_000; passedMs += 500) await clock.advance(500)
  await until(() => !first.leads())
})

test('a leader that stood still writes nothing, before its timers have told it to stop', async () => {
  await using api = await startTestApiServer()
  // The clock of a process that is stopped goes on, and its timers are late.
  let lateMs = 0
  const inner = simulatedClock()
  const clock: SimulatedClock = { ...inner, monotonicMs: () => inner.monotonicMs() + lateMs }
  const deps = { clock, random: seededRandom(1), log: silentLogger }
  const cluster = createCluster(api.transport, { ...deps, userAgent: 'first' })
  const stop = new AbortController()
  const begun = Promise.withResolvers<Leadership>()
  const running = runAsLeader(
    { ...lease, identity: 'first' },
    { ...deps, cluster },
    stop.signal,
    (scope, leadership) => {
      begun.resolve(leadership)
      return aborted(scope)
    },
  ).catch((error: unknown) => error)
  const fenced = fencedTransport(api.transport, await begun.promise)
  const path = '/api/v1/namespaces/default/configmaps'
  const send = (method: 'GET' | 'POST', name = 'a') => {
    const body = Buffer.from(JSON.stringify({ metadata: { name } }))
    const headers = { 'content-type': 'application/json' }
    return fenced.send({ method, path, headers, ...(method === 'POST' ? { body } : {}) }, soon())
  }
  assert.equal((await send('POST')).status, 201)
  lateMs = 9_000
  assert.equal((await send('POST', 'b')).status, 201)
  lateMs = 10_000
  await assert.rejects(send('POST', 'c'), LeaseLostError)
  assert.equal((await send('GET')).status, 200)
  stop.abort(new Error('stopped'))
  await running
})

const soon = (): AbortSignal => AbortSignal.timeout(10_000)
