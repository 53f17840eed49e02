import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { seededRandom, silentLogger, type Random } from '@skerry/base'
import { createCluster, readBody, type Transport, type TransportRequest } from '@skerry/client'
import {
  callApi,
  failOnUncaught,
  randomValues,
  simulatedClock,
  startTestApiServer,
  until,
  watchApi,
  withOddValue,
  type TestApiServer,
} from '@skerry/testing'
import { groupLabel } from '@skerry/fleet-kinds'
import { nodeSummaryOf, resourceSummaryOf } from '../report/cluster-facts.ts'
import { EdgeObserver } from '../report/edge-observer.ts'

/** A cluster in push mode may send anything. The hub recovers with the next right answer. */
const seed = 20_261_132
const rounds = 100
failOnUncaught()

let server: TestApiServer

before(async () => {
  server = await startTestApiServer({ withAccess: true })
  await make('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } })
  for (const name of ['n1', 'n2']) {
    await make('/api/v1/nodes', { metadata: { name, labels: { [groupLabel]: 'shop' } } })
  }
  for (const name of ['a', 'b', 'c']) await makePod(name)
})

after(() => server[Symbol.asyncDispose]())

const objects = [
  '/api/v1/nodes/n1',
  '/api/v1/nodes/n2',
  ...['a', 'b', 'c'].map((name) => `/api/v1/namespaces/default/pods/${name}`),
]

/** Updates every object, so that each gets a new version and an event. */
async function touchAll(round: number): Promise<void> {
  const headers = { 'content-type': 'application/merge-patch+json' }
  const body = { metadata: { annotations: { round: String(round) } } }
  for (const path of objects) {
    const { status, text } = await callApi(server.transport, {
      method: 'PATCH',
      path,
      headers,
      body,
    })
    assert.equal(status, 200, text)
  }
}

async function makePod(name: string): Promise<void> {
  const resources = { requests: { cpu: '100m', memory: '1Mi' } }
  const spec = { nodeName: 'n1', containers: [{ name: 'app', image: 'app', resources }] }
  await make('/api/v1/namespaces/default/pods', { metadata: { name }, spec })
}

async function deletePod(name: string): Promise<void> {
  const path = `/api/v1/namespaces/default/pods/${name}?gracePeriodSeconds=0`
  const { status, text } = await callApi(server.transport, { method: 'DELETE', path })
  assert.equal(status, 200, text)
}

async function make(path: string, body: object): Promise<void> {
  const { status, text } = await callApi(server.transport, { method: 'POST', path, body })
  assert.equal(status, 201, text)
}

interface OddServer extends Transport {
  isOdd: boolean
  /** True: watches from any version are refused with 410. */
  isForgetful: boolean
  /** Ends the open watches. */
  endWatches(): void
}

/** The real server. While `isOdd` is set, each document and event has one odd value. */
function oddServer(random: Random): OddServer {
  let ending = new AbortController()
  const changed = (text: string): string =>
    odd.isOdd && text.startsWith('{') ? withOddPart(text, random) : text
  const odd: OddServer = {
    isOdd: false,
    isForgetful: false,
    endWatches() {
      ending.abort()
      ending = new AbortController()
    },
    async send(request, signal) {
      const { path, headers } = request
      if (/[?&]watch=true/.test(path)) {
        // Older servers lack WatchList.
        const isRefused = path.includes('sendInitialEvents') && random.next() < 0.5
        if (isRefused) return refused(422, 'Invalid', changed)
        // The informer lists again after 410.
        if (!path.includes('sendInitialEvents') && odd.isForgetful)
          return refused(410, 'Expired', changed)
        const scope = AbortSignal.any([signal, ending.signal])
        return { status: 200, headers: {}, body: events({ path, headers }, scope, changed) }
      }
      const answer = await server.transport.send(request, signal)
      const text = changed((await readBody(answer.body)).toString())
      return { ...answer, body: pieces(text) }
    },
  }
  return odd
}

/** Replaces one random value of the document, of one of its objects, or of one object's metadata. */
function withOddPart(text: string, random: Random): string {
  const [value] = randomValues(random, 1)
  const document = JSON.parse(text)
  const { items = [], object } = document
  const draw = random.next()
  const whole = items[Math.floor(random.next() * items.length)] ?? object ?? document
  const part = draw < 0.2 ? document : draw < 0.4 ? whole : whole.metadata
  if (!value || !part) return text
  const before = JSON.stringify(part)
  return text.replace(before, () => withOddValue(before, value))
}

function refused(code: number, reason: string, changed: (text: string) => string) {
  const status = { kind: 'Status', code, reason, details: { retryAfterSeconds: 1 } }
  return { status: code, headers: {}, body: pieces(changed(JSON.stringify(status))) }
}

async function* events(
  { path, headers }: Pick<TransportRequest, 'path' | 'headers'>,
  signal: AbortSignal,
  changed: (text: string) => string,
): AsyncGenerator<Uint8Array> {
  for await (const event of watchApi(server.transport, path, signal, headers)) {
    yield Buffer.from(`${changed(JSON.stringify(event))}\n`)
  }
}

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

test(`odd information about objects is forgotten when the server gives the right one (seed ${seed})`, async (t) => {
  const clock = simulatedClock()
  const random = seededRandom(seed)
  const transport = oddServer(seededRandom(seed + 1))
  const parts = { clock, random, log: silentLogger }
  const local = createCluster(transport, { ...parts, userAgent: 'test' })
  const observer = new EdgeObserver({ ...parts, local }, { freshMs: 0, discoveryPeriodMs: 0 })
  const stop = new AbortController()
  const running = observer.run(stop.signal).catch((error: unknown) => error)
  t.after(() => stop.abort())
  observer.workload('shop')
  const seen = () => {
    const { nodes, pods } = observer.workload(undefined)
    try {
      return { nodes: nodeSummaryOf(nodes), resources: resourceSummaryOf(nodes, pods) }
    } catch (error) {
      // The reporter logs the error and tries again in its next round.
      return String(error)
    }
  }
  await until(async () => {
    await clock.advance(1_000)
    return observer.hasSeenAll()
  })
  const told = () => JSON.stringify(seen())
  const before = told()
  await makePod('d')
  await until(async () => {
    await clock.advance(1_000)
    return told() !== before
  })
  const after = told()
  for (let round = 0; round < rounds; round += 1) {
    transport.isOdd = true
    transport.isForgetful = round % 2 === 1
    transport.endWatches()
    await touchAll(2 * round)
    for (let turn = 0; turn < 3; turn += 1) await clock.advance(2_000)
    const asked = [observer.health(), observer.version(), observer.apis(), observer.id()]
    for (const { status, ...rest } of await Promise.allSettled(asked)) {
      if (status === 'rejected' && 'reason' in rest) assert.ok(rest.reason instanceof Error)
    }
    transport.isOdd = false
    // An observer that has stopped listening does not see this change.
    const hasPod = round % 2 === 1
    await (hasPod ? makePod('d') : deletePod('d'))
    const isRight = () => observer.hasSeenAll() && told() === (hasPod ? after : before)
    await touchAll(2 * round + 1)
    transport.isForgetful = true
    transport.endWatches()
    await clock.advance(2_000)
    transport.isForgetful = false
    for (let turn = 0; !isRight(); turn += 1) {
      assert.ok(turn < 200, `after round ${round} it still sees ${JSON.stringify(seen())}`)
      await clock.advance(5_000)
    }
  }
  stop.abort()
  await running
})
