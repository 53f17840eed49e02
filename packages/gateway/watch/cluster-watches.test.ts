import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StatusError } from '@skerry/api'
import { accessEnded } from '@skerry/apiserver'
import { seededRandom, silentLogger, simulatedClock, systemClock } from '@skerry/base'
import { TunnelClosedError, TunnelUnavailableError, type TunnelRequest } from '@skerry/tunnel'
import { callApi, startTestApiServer, type TestApiServer } from '@skerry/testing'
import { createClusterWatches, type ClusterWatchesDeps } from './cluster-watches.ts'
import { watchLimits } from '../limits-table.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const allowed = async (): Promise<void> => undefined
const quick = { spreadMs: 1, retryMsMax: 2 }
const configMaps = '/api/v1/namespaces/default/configmaps'
const partial = 'as=PartialObjectMetadata;g=meta.k8s.io;v=v1'

type Send = ClusterWatchesDeps['way']['send']

/** A way to an API server that breaks after each of these numbers of bytes, and then holds. */
function breakingWay({ transport }: TestApiServer, breaks: number[]) {
  const asked: string[] = []
  const send: Send = async (_cluster, { method, path, headers }, signal) => {
    asked.push(path)
    if (method !== 'GET') throw new TypeError('Only watches are expected')
    const flat = Object.fromEntries(
      Object.entries(headers).map(([key, value]) => [key, String(value)]),
    )
    const answer = await transport.send({ method, path, headers: flat }, signal)
    return { ...answer, body: broken(answer.body, breaks) }
  }
  return { send, asked }
}

async function* broken(body: AsyncIterable<Uint8Array>, breaks: number[]) {
  let left = breaks.shift() ?? Infinity
  for await (const chunk of body) {
    if (chunk.length > 0) yield chunk.subarray(0, Math.min(left, chunk.length))
    left -= chunk.length
    if (left < 0) throw new TunnelClosedError('a digger found the cable', { isSent: true })
  }
}

/** Reads until that many bytes have come. */
async function readBytes(body: AsyncIterable<Uint8Array>, bytes: number): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let count = 0
  for await (const piece of body) {
    pieces.push(piece)
    count += piece.length
    if (count >= bytes) break
  }
  return Buffer.concat(pieces)
}

async function makeEvents(server: TestApiServer): Promise<string> {
  const { body } = await callApi(server.transport, { path: configMaps })
  for (let at = 0; at < 12; at += 1) {
    const metadata = { name: `cargo-${at}`, annotations: { tricky: '"resourceVersion":"1"}\\' } }
    const data = { text: 'x'.repeat(at * 700) }
    const made = await callApi(server.transport, {
      method: 'POST',
      path: configMaps,
      body: { metadata, data },
    })
    assert.equal(made.status, 201, made.text)
    if (at % 3 > 0) continue
    const path = `${configMaps}/cargo-${at}`
    await callApi(server.transport, { method: 'DELETE', path })
  }
  return body.metadata.resourceVersion
}

test('wherever its tunnel breaks, a watch brings each event once and whole', async () => {
  await using server = await startTestApiServer()
  const version = await makeEvents(server)
  const random = seededRandom(20_261_122)
  const accepts = [
    'application/json',
    `application/json;${partial}`,
    'application/vnd.kubernetes.protobuf',
    `application/vnd.kubernetes.protobuf;${partial}`,
  ]
  for (const accept of accepts) {
    for (const path of [configMaps, '/api/v1/configmaps']) {
      const asked = `${path}?labelSelector=a%21%3Db&watch=1&resourceVersion=${version}`
      const request = { method: 'GET', path: asked, headers: { accept } } as const
      using stop = stoppable()
      const direct = await server.transport.send(request, stop.signal)
      const first = await direct.body[Symbol.asyncIterator]().next()
      const whole = Buffer.from(first.value ?? [])
      for (let time = 0; time < 6; time += 1) {
        const breaks = [0, 1, 2].map(() => Math.floor(random.next() * whole.length * 0.6))
        const way = breakingWay(server, [...breaks])
        const deps = { way, clock: systemClock, random, log: silentLogger, limits: quick }
        const watches = createClusterWatches(deps)
        const asking = { cluster: 'edge', request, mayGoOn: allowed }
        const answer = await watches.send(asking, stop.signal)
        const bytes = await readBytes(answer.body, whole.length)
        assert.ok(bytes.equals(whole), `${accept} broken after ${breaks.join(', ')} bytes`)
        assert.ok(way.asked.length > 1, `${accept} broken after ${breaks.join(', ')} bytes`)
      }
    }
  }
})

test('watches of Tables, and of one object by its name, go on, too', async () => {
  await using server = await startTestApiServer()
  const version = await makeEvents(server)
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'
  const path = `${configMaps}?watch=1&resourceVersion=${version}&fieldSelector=metadata.name%3Dcargo-3`
  const way = breakingWay(server, [1_000])
  const watches = createClusterWatches({ ...quickDeps(), way })
  const request = { method: 'GET', path, headers: { accept } }
  using stop = stoppable()
  const answer = await watches.send({ cluster: 'edge', request, mayGoOn: allowed }, stop.signal)
  const seen: string[] = []
  for await (const piece of answer.body) {
    for (const line of Buffer.from(piece).toString().trim().split('\n')) {
      const { type, object } = JSON.parse(line)
      seen.push(`${type} ${object.kind} ${object.rows[0].cells[0]}`)
    }
    if (seen.length === 2) break
  }
  assert.deepEqual(seen, ['ADDED Table cargo-3', 'DELETED Table cargo-3'])
  assert.equal(way.asked.length, 2)
})

function quickDeps() {
  const random = seededRandom(7)
  return { clock: systemClock, random, log: silentLogger, limits: quick }
}

function stoppable() {
  const controller = new AbortController()
  const signal = AbortSignal.any([controller.signal, soon()])
  return { signal, [Symbol.dispose]: () => controller.abort(new Error('seen enough')) }
}

const event = (type: string, version: string, annotations = {}): string =>
  `${JSON.stringify({ type, object: { kind: 'Pod', metadata: { resourceVersion: version, annotations } } })}\n`
const bookmark = (version: string): string => event('BOOKMARK', version)
const initialEnd = (version: string): string =>
  event('BOOKMARK', version, { 'k8s.io/initial-events-end': 'true' })
const status = (code: number): string => JSON.stringify({ kind: 'Status', code, reason: 'Some' })

/** The answer to one request: these pieces, and then the end or a break. */
interface Reply {
  readonly pieces: readonly string[]
  readonly breaks?: boolean
  readonly status?: number
}

/** Answers one request after the other. */
function scripted(replies: readonly (Reply | Error)[]) {
  const left = [...replies]
  const asked: TunnelRequest[] = []
  const send: Send = async (_cluster, request) => {
    asked.push(request)
    const reply = left.shift() ?? new TunnelUnavailableError('edge', undefined)
    if (reply instanceof Error) throw reply
    return {
      status: reply.status ?? 200,
      headers: { 'content-type': 'application/json' },
      body: (async function* () {
        for (const piece of reply.pieces) yield Buffer.from(piece)
        if (reply.breaks) throw new TunnelClosedError('it ended', { isSent: true })
      })(),
    }
  }
  return { send, asked }
}

interface Story {
  readonly name: string
  readonly query: string
  readonly replies: readonly (Reply | Error)[]
  readonly seen: string
  readonly ends: 'whole' | 'cut'
  /** The queries of all requests after the first. */
  readonly asked: readonly string[]
}

const added = event('ADDED', '11')
const stories: readonly Story[] = [
  {
    name: 'a bookmark that the client did not ask for says where to go on, and is not shown',
    query: 'watch=1&resourceVersion=10',
    replies: [
      { pieces: [added, bookmark('20')], breaks: true },
      { pieces: [event('DELETED', '21')] },
    ],
    seen: added + event('DELETED', '21'),
    ends: 'whole',
    asked: ['watch=1&allowWatchBookmarks=true&resourceVersion=20'],
  },
  {
    name: 'bookmarks that were asked for are shown, and half an event is dropped',
    query: 'watch=1&resourceVersion=10&allowWatchBookmarks=true',
    replies: [
      { pieces: [bookmark('20'), added.slice(0, 30)], breaks: true },
      { pieces: [bookmark('30')] },
    ],
    seen: bookmark('20') + bookmark('30'),
    ends: 'whole',
    asked: ['watch=1&allowWatchBookmarks=true&resourceVersion=20'],
  },
  {
    name: 'initial events go on when their bookmark has come, not before',
    query: 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1',
    replies: [{ pieces: [added, initialEnd('20')], breaks: true }, { pieces: [bookmark('30')] }],
    seen: added + initialEnd('20') + bookmark('30'),
    ends: 'whole',
    asked: ['watch=1&allowWatchBookmarks=true&resourceVersion=20'],
  },
  {
    name: 'initial events that lack their bookmark end, and the client sees by that that they are not all',
    query:
      'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
    replies: [{ pieces: [added], breaks: true }],
    seen: added,
    ends: 'whole',
    asked: [],
  },
  {
    name: 'initial events without a marked end break off',
    query: 'watch=1',
    replies: [{ pieces: [added, event('ADDED', '9')], breaks: true }],
    seen: added + event('ADDED', '9'),
    ends: 'cut',
    asked: [],
  },
  {
    name: 'a change shows that the initial events are over',
    query: 'watch=1&resourceVersion=0',
    replies: [
      { pieces: [added, event('MODIFIED', '12')], breaks: true },
      { pieces: [event('DELETED', '13')] },
    ],
    seen: added + event('MODIFIED', '12') + event('DELETED', '13'),
    ends: 'whole',
    asked: ['watch=1&allowWatchBookmarks=true&resourceVersion=12'],
  },
  {
    name: 'an ERROR event is the end, as it is said',
    query: 'watch=1&resourceVersion=10',
    replies: [{ pieces: [event('ERROR', '')], breaks: true }],
    seen: event('ERROR', ''),
    ends: 'whole',
    asked: [],
  },
  {
    name: 'a version that is too old by now gets an ERROR event',
    query: 'watch=1&resourceVersion=10',
    replies: [
      { pieces: [added], breaks: true },
      { pieces: [status(410)], status: 410 },
    ],
    seen: `${added}{"type":"ERROR","object":${status(410)}}\n`,
    ends: 'whole',
    asked: ['watch=1&allowWatchBookmarks=true&resourceVersion=11'],
  },
  {
    name: 'a cluster that now says no ends it',
    query: 'watch=1&resourceVersion=10',
    replies: [
      { pieces: [added], breaks: true },
      { pieces: [status(403)], status: 403 },
    ],
    seen: added,
    ends: 'whole',
    asked: ['watch=1&allowWatchBookmarks=true&resourceVersion=11'],
  },
  {
    name: 'a cluster that is away, and then starts, is asked again',
    query: 'watch=1&resourceVersion=10',
    replies: [
      { pieces: [added], breaks: true },
      new TunnelUnavailableError('edge', undefined),
      { pieces: [status(503)], status: 503 },
      { pieces: [], breaks: true },
      { pieces: [event('DELETED', '12')] },
    ],
    seen: added + event('DELETED', '12'),
    ends: 'whole',
    asked: Array<string>(4).fill('watch=1&allowWatchBookmarks=true&resourceVersion=11'),
  },
  {
    name: 'an event without a version cannot be gone on from',
    query: 'watch=1&resourceVersion=10',
    replies: [{ pieces: [added, '{"type":"ADDED","object":{}}\n'], breaks: true }],
    seen: `${added}{"type":"ADDED","object":{}}\n`,
    ends: 'cut',
    asked: [],
  },
  {
    name: 'a request that is not a watch passes as it is',
    query: 'watch=1&resourceVersion=10',
    replies: [{ pieces: ['{"kind":"PodMetricsList",\n', '"items":[]}'] }],
    seen: '{"kind":"PodMetricsList",\n"items":[]}',
    ends: 'whole',
    asked: [],
  },
]

for (const { name, query, replies, seen, ends, asked } of stories) {
  test(name, async () => {
    const way = scripted(replies)
    const watches = createClusterWatches({ ...quickDeps(), way })
    const request = { method: 'GET', path: `/api/v1/pods?${query}`, headers: {} }
    const answer = await watches.send({ cluster: 'edge', request, mayGoOn: allowed }, soon())
    let text = ''
    const reading = (async () => {
      for await (const piece of answer.body) text += Buffer.from(piece).toString()
    })()
    if (ends === 'whole') await reading
    else await assert.rejects(reading, TunnelClosedError)
    assert.equal(text, seen)
    assert.deepEqual(
      way.asked.slice(1).map(({ path }) => path.replace('/api/v1/pods?', '')),
      asked,
    )
  })
}

/** A watch that broke after its first event, read to its end while the clock runs. */
async function readBroken(query: string, mayGoOn = allowed, signal = soon()) {
  const clock = simulatedClock()
  const way = scripted([{ pieces: [added], breaks: true }])
  const deps = { clock, random: seededRandom(3), log: silentLogger, way }
  const request = { method: 'GET', path: `/api/v1/pods?${query}`, headers: {} }
  const asking = { cluster: 'edge', request, mayGoOn }
  const answer = await createClusterWatches(deps).send(asking, signal)
  let isOver = false
  const reading = (async () => {
    for await (const _piece of answer.body) continue
    isOver = true
  })()
  return { clock, way, reading, isOver: () => isOver }
}

test('a cluster that stays away ends the watch, so that the client hears of it', async () => {
  const { clock, way, reading, isOver } = await readBroken('watch=1&resourceVersion=10')
  await clock.advance(watchLimits.resumeMs - 1_000)
  assert.equal(isOver(), false)
  await clock.advance(1_000)
  await reading
  // The watch is retried every few seconds, and no more often.
  assert.ok(way.asked.length > 20 && way.asked.length < 100, String(way.asked.length))
})

test("the client's time limit for a watch is not extended", async () => {
  const query = 'watch=1&resourceVersion=10&timeoutSeconds=20'
  const { clock, way, reading } = await readBroken(query)
  await clock.advance(20_000)
  await reading
  const seconds = way.asked
    .slice(1)
    .map(({ path }) => Number(/timeoutSeconds=(\d+)/.exec(path)?.[1]))
  assert.ok(seconds.length > 3)
  assert.deepEqual(
    seconds,
    seconds.toSorted((a, b) => b - a),
  )
  assert.ok(seconds.every((each) => each >= 1 && each <= 20))
})

test('a watch is not resumed for a user who may no longer watch', async () => {
  const { clock, way, reading } = await readBroken('watch=1&resourceVersion=10', async () => {
    throw new StatusError('Forbidden', 'Forbidden')
  })
  await clock.advance(1_000)
  await reading
  assert.equal(way.asked.length, 1)
})

test('a user who loses the right to a watch while the cluster is away sees it end', async () => {
  const stop = new AbortController()
  const { clock, reading } = await readBroken('watch=1&resourceVersion=10', allowed, stop.signal)
  await clock.advance(3_000)
  stop.abort(accessEnded)
  await reading
})

test('nothing is read ahead for a slow reader, and it misses nothing', async () => {
  let pulled = 0
  const send: Send = async (_cluster, { path }) => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: (async function* () {
      const from = Number(/resourceVersion=(\d+)/.exec(path)?.[1])
      for (let version = from + 1; version <= from + 100; version += 1) {
        pulled += 1
        yield Buffer.from(event('ADDED', String(version)))
      }
      throw new TunnelClosedError('it ended', { isSent: true })
    })(),
  })
  const watches = createClusterWatches({ ...quickDeps(), way: { send } })
  const path = '/api/v1/pods?watch=1&resourceVersion=1000'
  const request = { method: 'GET', path, headers: {} }
  const { body } = await watches.send({ cluster: 'edge', request, mayGoOn: allowed }, soon())
  let version = 1_000
  for await (const piece of body) {
    version += 1
    assert.equal(Buffer.from(piece).toString(), event('ADDED', String(version)))
    assert.equal(pulled, version - 1_000)
    if (version === 1_350) break
  }
  assert.equal(version, 1_350)
})

test('a cluster cannot make the hub keep endless events, and harms no other by trying', async () => {
  const metadata = { resourceVersion: '11', annotations: { a: 'x'.repeat(700_000) } }
  const large = Buffer.from(`${JSON.stringify({ type: 'ADDED', object: { metadata } })}\n`)
  const cut = Promise.withResolvers<void>()
  let pulled = 0
  const bodies: Readonly<Record<string, () => AsyncGenerator<Uint8Array>>> = {
    async *half() {
      yield Buffer.alloc(900_000, 'x')
      await cut.promise
    },
    async *endless() {
      for (;;) {
        pulled += 65_536
        yield Buffer.alloc(65_536, 'x')
      }
    },
    async *good() {
      yield large.subarray(0, 650_000)
      await cut.promise
      yield large.subarray(650_000)
    },
  }
  const send: Send = async (_cluster, { path }) => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: bodies[path.split('/').at(-1)?.split('?')[0] ?? '']?.() ?? (async function* () {})(),
  })
  const limits = { ...quick, frameBytesMax: 1_000_000, partialBytesMax: 1_500_000 }
  const watches = createClusterWatches({ ...quickDeps(), way: { send }, limits })
  const read = async (cluster: string, what: string): Promise<Buffer> => {
    const request = { method: 'GET', path: `/api/v1/${what}?watch=1`, headers: {} }
    const { body } = await watches.send({ cluster, request, mayGoOn: allowed }, soon())
    return readBytes(body, Infinity)
  }
  const half = read('bad', 'half')
  const good = read('good', 'good')
  await assert.rejects(read('bad', 'endless'), /an event is too long/)
  assert.ok(pulled > 500_000 && pulled < 700_000, `${pulled} bytes of one cluster beside 900,000`)
  cut.resolve()
  assert.ok((await good).equals(large))
  await half
  await assert.rejects(read('bad', 'endless'), /an event is too long/)
  assert.ok(pulled > 1_500_000 && pulled < 1_800_000, `${pulled} bytes in two watches`)
})
