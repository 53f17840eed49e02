import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock, seededRandom, simulatedClock } from '@skerry/base'
import { createHttpsTransport, fixedCredentials } from '@skerry/client'
import { callApi, startTestApiServer, until } from '@skerry/testing'
import { parseRequestInfo } from '../contract/request-info.ts'
import { schemaMatches } from './flow-schemas.ts'
import { PriorityQueues, type Leave, type Rejection } from './priority-queues.ts'
import { seatsAsked } from './seats-asked.ts'
import { shareSeats } from './share-seats.ts'
import { dealHand } from './shuffle-sharding.ts'

const never = new AbortController().signal

test('a hand consists of different queues, the same each time, and spread over all of them', () => {
  const counts = Array.from({ length: 64 }, () => 0)
  for (let flow = 0; flow < 1_000; flow += 1) {
    const hand = dealHand(`flow-${flow}`, 64, 8)
    assert.equal(new Set(hand).size, 8)
    assert.deepEqual(hand, dealHand(`flow-${flow}`, 64, 8))
    for (const card of hand) counts[card] = (counts[card] ?? 0) + 1
  }
  assert.ok(Math.min(...counts) > 80 && Math.max(...counts) < 180, counts.join())
})

/**
 * Runs clients that send `parallel` requests at once and another after each answer. Returns their
 * numbers of answers.
 */
async function simulate(clients: readonly { name: string; parallel: number }[], seed: number) {
  const clock = simulatedClock()
  const random = seededRandom(seed)
  const shape = { queues: 64, handSize: 6, queueLengthMax: 50 }
  const queues = new PriorityQueues(shape, 10, clock)
  const served = new Map(clients.map(({ name }) => [name, 0]))
  const stop = new AbortController()
  const one = async (name: string): Promise<void> => {
    while (!stop.signal.aborted) {
      const leave = await queues.enter(name, { seats: 1, waitMs: 15_000 }, stop.signal)
      if (typeof leave === 'function') {
        await clock.sleep(5 + random.next() * 10, never)
        leave()
        served.set(name, (served.get(name) ?? 0) + 1)
      } else await clock.sleep(50, never)
    }
  }
  const work = clients.flatMap(({ name, parallel }) =>
    Array.from({ length: parallel }, () => one(name)),
  )
  await clock.advance(10_000)
  stop.abort()
  await clock.advance(1_000)
  await Promise.all(work)
  return { served, queues }
}

test('one client that floods the server does not keep the others from being served', async () => {
  const seed = 7
  const polite = Array.from({ length: 4 }, (_each, at) => ({ name: `polite-${at}`, parallel: 2 }))
  const alone = await simulate(polite, seed)
  const together = await simulate([{ name: 'greedy', parallel: 500 }, ...polite], seed)
  for (const { name } of polite) {
    const before = alone.served.get(name) ?? 0
    const after = together.served.get(name) ?? 0
    assert.ok(after > before * 0.5, `seed ${seed}: ${name} fell from ${before} to ${after}`)
  }
  assert.ok((together.served.get('greedy') ?? 0) > 500, 'the rest goes to the greedy one')
  assert.equal(together.queues.seatsInUse, 0)
  assert.equal(together.queues.seatsWaiting, 0)
})

test('a request waits, is served in turn, or learns why not', async () => {
  const clock = simulatedClock()
  const queues = new PriorityQueues({ queues: 1, handSize: 1, queueLengthMax: 2 }, 1, clock)
  const asked = { seats: 1, waitMs: 1_000 }
  const leave = await queues.enter('a', asked, never)
  assert.equal(typeof leave, 'function')
  const second: Promise<Leave | Rejection> = queues.enter('a', asked, never)
  const gone = new AbortController()
  const third = queues.enter('a', asked, gone.signal)
  assert.equal(await queues.enter('a', asked, never), 'queue-full')
  gone.abort()
  assert.equal(await third, 'cancelled')
  const late = queues.enter('a', asked, never)
  if (typeof leave === 'function') leave()
  assert.equal(typeof (await second), 'function')
  await clock.advance(1_001)
  assert.equal(await late, 'time-out')
  const none = new PriorityQueues(undefined, 1, clock)
  assert.equal(typeof (await none.enter('a', asked, never)), 'function')
  assert.equal(await none.enter('a', asked, never), 'concurrency-limit')
})

test('unneeded seats are lent, and each level keeps its minimum', () => {
  const claim = (nominal: number, min: number, demand: number) => ({
    nominal,
    min,
    max: 600,
    demand,
    smoothDemand: demand,
  })
  const [idle, hungry, small] = shareSeats(
    [claim(300, 30, 0), claim(200, 100, 1_000), claim(100, 100, 10)],
    600,
  )
  assert.ok(idle !== undefined && idle >= 30 && idle < 100, `${idle}`)
  assert.ok(hungry !== undefined && hungry > 400, `${hungry}`)
  assert.equal(small, 100)
})

test('schemas match by subject, verb, resource and namespace', () => {
  const rule = { verbs: ['*'], apiGroups: [''], resources: ['pods'], namespaces: ['*'] }
  const schemaOf = (subject: object, resourceRule: object) => ({
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    kind: 'FlowSchema',
    metadata: { name: 'x' },
    spec: {
      priorityLevelConfiguration: { name: 'y' },
      rules: [
        { subjects: [{ kind: '', ...subject }], resourceRules: [{ ...rule, ...resourceRule }] },
      ],
    },
  })
  const everybody = { kind: 'Group', group: { name: 'system:authenticated' } }
  const account = { kind: 'ServiceAccount', serviceAccount: { namespace: 'a', name: '*' } }
  const pods = parseRequestInfo('GET', '/api/v1/namespaces/a/pods')
  const allPods = parseRequestInfo('GET', '/api/v1/pods')
  const log = parseRequestInfo('GET', '/api/v1/namespaces/a/pods/p/log')
  const user = { name: 'system:serviceaccount:a:b', groups: ['system:authenticated'], extra: {} }
  const table: readonly [object, object, typeof pods, boolean][] = [
    [everybody, {}, pods, true],
    [everybody, {}, allPods, false],
    [everybody, { clusterScope: true }, allPods, true],
    [everybody, {}, log, false],
    [everybody, { resources: ['pods/log'] }, log, true],
    [everybody, { verbs: ['create'] }, pods, false],
    [everybody, { namespaces: ['b'] }, pods, false],
    [account, {}, pods, true],
    [{ ...account, serviceAccount: { namespace: 'b', name: '*' } }, {}, pods, false],
    [{ kind: 'User', user: { name: 'ada' } }, {}, pods, false],
  ]
  for (const [subject, more, info, isMatched] of table) {
    assert.equal(
      schemaMatches(schemaOf(subject, more), user, info),
      isMatched,
      JSON.stringify([subject, more]),
    )
  }
})

test('a long list takes more seats', () => {
  const objectsOf = () => 750
  const seats = (target: string) => seatsAsked(parseRequestInfo('GET', target), { objectsOf }).seats
  assert.equal(seats('/api/v1/pods/x'), 1)
  assert.equal(seats('/api/v1/pods'), 8)
  assert.equal(seats('/api/v1/pods?limit=100'), 1)
  assert.equal(seats('/api/v1/pods?limit=100&resourceVersion=0'), 8)
})

test('answers name their schema and level, and upstream’s objects are kept', async () => {
  await using server = await startTestApiServer({ withAccess: true, hasFlowControl: true })
  const base = '/apis/flowcontrol.apiserver.k8s.io/v1'
  const call = (request: Parameters<typeof callApi>[1]) => callApi(server.transport, request)
  let schema = await call({ path: `${base}/flowschemas/catch-all` })
  for (let tries = 0; tries < 200 && !schema.body.status?.conditions; tries += 1) {
    schema = await call({ path: `${base}/flowschemas/catch-all` })
  }
  assert.equal(schema.body.status.conditions[0].type, 'Dangling')
  assert.equal(schema.body.status.conditions[0].status, 'False')
  const levels = await call({ path: `${base}/prioritylevelconfigurations` })
  assert.equal(levels.body.items.length, 8)
  const exempt = await call({ path: `${base}/flowschemas/exempt` })
  assert.equal(levels.headers['x-kubernetes-pf-flowschema-uid'], exempt.body.metadata.uid)
})

test('a write that many watch takes more seats, and keeps them for a while', async () => {
  const post = (target: string) => parseRequestInfo('POST', target)
  const writeWork = (watchers: number, target = '/api/v1/namespaces/a/pods') =>
    seatsAsked(post(target), { objectsOf: () => 0, watchersOf: () => watchers })
  assert.deepEqual(writeWork(1_000, '/api/v1/namespaces/a/serviceaccounts/b/token'), { seats: 1 })
  assert.deepEqual(writeWork(9), { seats: 1 })
  assert.deepEqual(writeWork(25), { seats: 3, afterMs: 5 })
  assert.deepEqual(writeWork(1_000), { seats: 10, afterMs: 50 })
  const clock = simulatedClock()
  const queues = new PriorityQueues({ queues: 1, handSize: 1, queueLengthMax: 5 }, 10, clock)
  const leave = await queues.enter('a', { ...writeWork(1_000), waitMs: 1_000 }, never)
  assert.equal(typeof leave, 'function')
  if (typeof leave === 'function') leave()
  assert.equal(queues.seatsInUse, 10)
  await clock.advance(51)
  assert.equal(queues.seatsInUse, 0)
})

test('over the socket, a client that asks endlessly keeps no other client from an answer', async () => {
  const limits = { readsInFlightMax: 6, writesInFlightMax: 6 }
  await using server = await startTestApiServer({ withAccess: true, hasFlowControl: true, limits })
  const { ca, cert, key } = server.credentials
  const polite = createHttpsTransport(
    { server: server.url, certificateAuthority: ca },
    { clock: systemClock },
  )
  const greedy = createHttpsTransport(
    {
      server: server.url,
      certificateAuthority: ca,
      credentials: fixedCredentials({ certificate: cert, key }),
      headers: { 'impersonate-user': 'greedy', 'impersonate-group': ['system:authenticated'] },
    },
    { clock: systemClock },
  )
  const stop = new AbortController()
  let answered = 0
  const flood = Array.from({ length: 40 }, async () => {
    while (!stop.signal.aborted) {
      const { status } = await callApi(greedy, { path: '/api' })
      assert.ok(status === 200 || status === 429, String(status))
      answered += 1
    }
  })
  await until(() => answered >= 40)
  for (let count = 0; count < 5; count += 1) {
    assert.equal((await callApi(polite, { path: '/version' })).status, 200)
  }
  stop.abort()
  await Promise.all(flood)
  polite[Symbol.dispose]()
  greedy[Symbol.dispose]()
  const path = '/debug/api_priority_and_fairness/dump_priority_levels'
  const { text } = await callApi(server.transport, { path })
  assert.match(text, /^PriorityLevelName, +ActiveQueues, +IsIdle, +IsQuiescing,/)
  assert.match(text, /^global-default, +0, +true, +false, +0, +0, +[1-9]/m)
})
