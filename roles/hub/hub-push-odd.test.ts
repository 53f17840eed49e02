/** The hub dials clusters in push mode. An odd answer from such a cluster's API server fails one request and nothing else. */
import assert from 'node:assert/strict'
import type { Duplex } from 'node:stream'
import { after, before, test } from 'node:test'
import { seededRandom } from '@skerry/base'
import { readBody, type HttpsTransport } from '@skerry/client'
import { clusterResource } from '@skerry/fleet-kinds'
import {
  askToUpgrade,
  askTwice,
  callApi,
  failOnUncaught,
  oddRawAnswers,
  openSession,
  randomValues,
  readAnswers,
  says,
  saysPieces,
  startRawPeer,
  watchApi,
  webhookCertificate,
  withOddValue,
  type RawAnswer,
  type RawPeer,
  type TestApiServer,
  type TestCredentials,
  untilObject,
} from '@skerry/testing'
import { startTestEdge, startTestHub, type TestHub } from '../../testing/scenes/test-fleet.ts'
import {
  clientOf,
  joinCluster,
  placeAtShop,
  readyOf,
  untilReachable,
} from '../../testing/scenes/test-push.ts'

const seed = 20_261_131

failOnUncaught()

let fleet: TestHub
let credentials: TestCredentials
/** Requests use a socket, as users' requests do. */
let user: HttpsTransport
let member: TestApiServer
let peer: RawPeer
/** Answers the hub's own requests. Requests on behalf of users impersonate someone and go to `toUsers`. */
let toHub: RawAnswer
let toUsers: RawAnswer

before(async () => {
  const tls = await webhookCertificate()
  peer = await startRawPeer(says(''), { tls })
  peer.answer = (connection, head, body) => {
    const answer = /^impersonate-user:/im.test(head) ? toUsers : toHub
    answer(connection, head, body)
  }
  toHub = rightly
  toUsers = rightly
  fleet = await startTestHub({ push: true, pushPeriodMs: 200 })
  const subject = { commonName: 'kubernetes-admin', organizations: ['system:masters'] }
  const { certificate, key } = await fleet.credentialsOf(subject)
  credentials = { ca: fleet.caPem, cert: certificate, key }
  user = await fleet.as(subject)
  member = await startTestEdge()
  const edge = clientOf(member, fleet)
  await joinCluster(fleet, member, edge, {
    apiEndpoint: `https://127.0.0.1:${peer.port}`,
    insecureSkipTLSVerification: true,
  })
  await untilObject(
    fleet.admin,
    { resource: clusterResource, key: { name: 'shop' } },
    (each) => readyOf(each)?.status === 'True',
    AbortSignal.timeout(120_000),
  )
  await untilReachable(edge)
  await placeAtShop(fleet.admin, { namespace: 'default', name: 'till' })
})

after(async () => {
  user[Symbol.dispose]()
  await fleet[Symbol.asyncDispose]()
  await member[Symbol.asyncDispose]()
  peer[Symbol.dispose]()
})

/** Forwards the request to the real API server behind the peer. */
function rightly(connection: Duplex, head: string, body: string): void {
  void forward(connection, head, body, (text) => text)
}

type Change = (text: string) => string

async function forward(
  connection: Duplex,
  head: string,
  body: string,
  change: Change,
): Promise<void> {
  const [method = 'GET', path = '/'] = head.split(' ')
  const type = /^content-type: *([^\r]*)/im.exec(head)?.[1] ?? 'application/json'
  if (/[?&]watch=(1|true)/.test(path)) return watch(connection, path, change)
  const reply = await callApi(member.transport, {
    // The hub sends only methods that a TransportRequest allows.
    method: method as 'GET',
    path,
    headers: { 'content-type': type },
    ...(body === '' ? {} : { body: Buffer.from(body, 'latin1') }),
  })
  const text = Buffer.from(change(reply.text))
  connection.write(
    `HTTP/1.1 ${reply.status} OK\r\ncontent-type: ${reply.headers['content-type'] ?? ''}\r\ncontent-length: ${text.length}\r\n\r\n`,
  )
  connection.write(text)
}

async function watch(connection: Duplex, path: string, change: Change): Promise<void> {
  const stop = new AbortController()
  connection.once('close', () => stop.abort())
  connection.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n')
  for await (const event of watchApi(member.transport, path, stop.signal)) {
    connection.write(`${change(JSON.stringify(event))}\n`)
  }
}

/** Checks that the next request gets its own, right answer. */
async function assertServed(what: string): Promise<void> {
  toUsers = rightly
  const next = await callApi(user, { path: api })
  assert.match(next.text, /"till":"7"/, `${what}: ${next.status}`)
}

const api = '/clusters/shop/api/v1/namespaces/default/configmaps/till'

function* odd(rounds: number): Generator<string> {
  for (const [what, parts, random] of oddRawAnswers(seed, rounds)) {
    toUsers = saysPieces(parts, random)
    yield what
  }
}

test(`an odd answer of a pushed cluster ends its request only, over HTTP/1.1 (seed ${seed})`, async () => {
  for (const what of odd(25)) {
    const [, second] = await askTwice({ url: fleet.url, credentials, path: api, next: '/version' })
    if (second) assert.match(second.body, /"gitVersion"/, what)
    await assertServed(what)
  }
})

test(`an odd answer of a pushed cluster ends its stream only, over HTTP/2 (seed ${seed})`, async () => {
  using session = openSession(fleet.url, credentials)
  for (const what of odd(25)) {
    const status = await session.ask('GET', api)
    assert.ok(status === 0 || (status >= 200 && status <= 599), `${what}: ${status}`)
    assert.equal(await session.ask('GET', '/version'), 200, what)
    await assertServed(what)
  }
})

test(`an odd answer of a pushed cluster ends one session only (seed ${seed})`, async () => {
  const path = '/clusters/shop/api/v1/namespaces/default/pods/a/exec?command=a'
  let protocol = 'SPDY/3.1'
  for (const what of odd(30)) {
    protocol = protocol === 'websocket' ? 'SPDY/3.1' : 'websocket'
    const bytes = await askToUpgrade({ url: fleet.url, credentials, path }, protocol)
    if (!bytes.toString('latin1').startsWith('HTTP/1.1 101 ')) readAnswers(bytes, ['GET'])
    await assertServed(what)
  }
})

test(`odd events of a pushed cluster end their watch only (seed ${seed})`, async () => {
  const metadata = { name: 'a', namespace: 'default', uid: 'u', resourceVersion: '7' }
  const right = JSON.stringify({ type: 'ADDED', object: { kind: 'ConfigMap', metadata } })
  const random = seededRandom(seed)
  const lines = randomValues(random, 60).map((value) => withOddValue(right, value))
  const odd = [
    '',
    '{',
    'null',
    '\u0000',
    '{"type":"ERROR"}',
    'x'.repeat(100_000),
    right.slice(0, -1),
  ]
  for (const line of [...odd, ...lines]) {
    const answer = says(
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n${right}\n${line}\n`,
    )
    const isRead = new AbortController()
    toUsers = (connection, head, body) => {
      connection.once('close', () => isRead.abort(new Error('The hub has read everything')))
      answer(connection, head, body)
      connection.end()
    }
    const path = `${api.replace('/till', '')}?watch=1&timeoutSeconds=1&resourceVersion=1`
    const scope = AbortSignal.any([isRead.signal, AbortSignal.timeout(60_000)])
    const reading = async () => {
      const request = { method: 'GET', path, headers: {} } as const
      return readBody((await user.send(request, scope)).body)
    }
    await reading().catch((error: unknown) => assert.ok(error instanceof Error))
    await assertServed(line.slice(0, 200))
  }
})
