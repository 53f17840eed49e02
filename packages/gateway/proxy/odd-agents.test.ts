import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { seededRandom, silentLogger, systemClock, systemRandom, type Random } from '@skerry/base'
import {
  askToUpgrade,
  askTwice,
  callApi,
  failOnUncaught,
  oddRawAnswers,
  oddFrame,
  openSession,
  randomAnswer,
  readAnswers,
  settingsFrame,
  startTestApiServer,
  type TestApiServer,
} from '@skerry/testing'
import { tunnelLimitDefaults, TunnelRegistry } from '@skerry/tunnel'
import { acceptTunnel } from '../../tunnel/session/hub-session.ts'
import { resetCodes } from '../../tunnel/frame/tunnel-frame.ts'
import { Multiplexer } from '../../tunnel/session/multiplexer.ts'
import type { TunnelStream } from '../../tunnel/session/tunnel-stream.ts'
import { memoryLinks } from '../../tunnel/testing/memory-link.ts'
import { serviceRoutes } from '../services/service-routes.ts'
import { createClusterAudit } from './cluster-audit.ts'
import { clusterProxyRoutes } from './cluster-proxy.ts'

/** An agent runs at an edge, where anybody may have become root: a bad answer ends one request at most. */
const seed = 20_261_124
const rounds = 80

/** Decides how the agent answers. */
type Script = (stream: TunnelStream, head: readonly string[]) => void

failOnUncaught()

let server: TestApiServer
let script: Script
const tunnels = new TunnelRegistry({}, systemClock)
const silent = { onGoAway: () => undefined, onFault: () => undefined }

before(async () => {
  const deps = { clock: systemClock, random: systemRandom, log: silentLogger }
  const audit = createClusterAudit({ write: () => undefined, monotonicMs: () => 0 })
  const shared = { ...deps, way: tunnels, audit, isKnown: () => true }
  server = await startTestApiServer({
    routes: [...serviceRoutes(shared), ...clusterProxyRoutes(shared)],
  })
  const { near, far } = memoryLinks()
  tunnels.add('edge', acceptTunnel(near, {}, deps))
  const onOpen: Script = (stream, head) => script(stream, head)
  void new Multiplexer(far, tunnelLimitDefaults, { ...silent, onOpen }, deps)
})
after(async () => {
  tunnels.closeAll('the test is over')
  await server[Symbol.asyncDispose]()
})

interface OddHead {
  readonly lines: readonly string[]
  readonly body: string
  readonly isCut: boolean
}

const known: readonly (readonly [what: string, lines: readonly string[], body: string])[] = [
  ...['100', '101', '103', '199', '600', '999', '099', '', '2e2', 'abc'].map(
    (status) => [`status ${status}`, [status, '', 'content-length', '2'], 'ab'] as const,
  ),
  ['a switch nobody asked for', ['101', 'websocket'], 'ab'],
  ['a switch to something else', ['101', 'h2c'], 'ab'],
  ['a switch with another status', ['200', 'websocket'], 'ab'],
  ['a body that is longer than its length', ['200', '', 'content-length', '2'], 'abcdef'],
  ['another answer after its length', ['200', '', 'content-length', '0'], forged()],
  ['a body that is shorter than its length', ['200', '', 'content-length', '9'], 'ab'],
  ['bytes after 204', ['204', ''], forged()],
  ['a length with 204', ['204', '', 'content-length', '5'], 'bytes'],
  ['bytes after 205', ['205', '', 'content-length', '5'], 'bytes'],
  ['bytes after 304', ['304', '', 'content-length', '5'], forged()],
  ['two lengths', ['200', '', 'content-length', '2', 'content-length', '3'], 'ab'],
  ['a length and pieces', ['200', '', 'content-length', '2', 'transfer-encoding', 'chunked'], 'ab'],
  ['a trailer announced', ['200', '', 'trailer', 'x', 'content-length', '2'], 'ab'],
  ['a line break', ['200', '', 'x', 'a\r\nset-cookie: b'], 'ab'],
  ['a pseudo-header', ['200', '', ':status', '200'], 'ab'],
  ['a name without a value', ['200', '', 'x'], 'ab'],
  ['two addresses', ['302', '', 'location', '/a', 'location', '/b'], ''],
  ['a name of every object', ['200', '', '__proto__', 'a', '__proto__', 'b'], 'ab'],
  ['no lines', [], ''],
]

function forged(): string {
  return 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged'
}

function* odd(): Generator<[what: string, head: OddHead, method: string]> {
  for (const [what, lines, body] of known) {
    for (const method of ['GET', 'HEAD']) yield [what, { lines, body, isCut: false }, method]
  }
  const random = seededRandom(seed)
  for (let round = 0; round < rounds; round += 1) {
    const head = randomHead(random)
    yield [JSON.stringify(head), head, random.next() < 0.2 ? 'HEAD' : 'GET']
  }
}

/** Returns an answer's lines as they would appear in HTTP/1.1. */
function randomHead(random: Random): OddHead {
  const [first = '', ...rest] = Buffer.concat(randomAnswer(random)).toString('latin1').split('\r\n')
  const end = rest.indexOf('')
  const fields = rest.slice(0, Math.max(0, end)).flatMap((line) => {
    const at = line.indexOf(':', 1)
    return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]
  })
  const switched = random.next() < 0.1 ? 'websocket' : ''
  const body = rest.slice(end + 1).join('\r\n')
  return {
    lines: [first.split(' ')[1] ?? '', switched, ...fields],
    body,
    isCut: random.next() < 0.2,
  }
}

function answering({ lines, body, isCut }: OddHead): Script {
  return (stream) => {
    stream.answer(lines)
    if (body !== '') stream.write(Buffer.from(body, 'latin1'))
    if (isCut) stream.reset(resetCodes.internal)
    else stream.end()
  }
}

const client = () => ({ url: server.url, credentials: server.credentials })
const apiPath = '/clusters/edge/api/v1/pods'
const servicePath = '/clusters/edge/services/shop/web:80/'

test(`an odd head from an agent ends its request only, over HTTP/1.1 (seed ${seed})`, async () => {
  for (const [what, head, method] of odd()) {
    script = answering(head)
    const asked = { ...client(), method, path: apiPath, next: '/version' }
    const [first, second] = await askTwice(asked)
    if (first) assert.doesNotMatch(first.body, /^forged/, what)
    if (second) assert.match(second.body, /"gitVersion"/, `${method} ${what}`)
    await assertServes(what)
  }
})

test(`an odd head from an agent ends its stream only, over HTTP/2 (seed ${seed})`, async () => {
  using session = openSession(server.url, server.credentials)
  for (const [what, head, method] of odd()) {
    script = answering(head)
    const status = await session.ask(method, apiPath)
    assert.ok(status === 0 || (status >= 200 && status <= 599), `${what}: ${status}`)
    assert.equal(await session.ask('GET', '/version'), 200, what)
  }
})

for (const protocol of ['websocket', 'SPDY/3.1']) {
  test(`an odd head from an agent ends one session of ${protocol} only (seed ${seed})`, async () => {
    const path = '/clusters/edge/api/v1/namespaces/a/pods/b/exec'
    for (const [what, head] of odd()) {
      script = answering(head)
      const bytes = await askToUpgrade({ ...client(), path }, protocol)
      if (!bytes.toString('latin1').startsWith('HTTP/1.1 101 ')) readAnswers(bytes, ['GET'])
      await assertServes(what)
    }
  })
}

test('a status that no server may pass on is 502, and names the cluster or its service', async () => {
  const odd999 = { lines: ['999', '', 'content-length', '0'], body: '', isCut: false }
  const asked: readonly (readonly [path: string, script: Script, peer: string])[] = [
    [apiPath, answering(odd999), 'cluster "edge"'],
    [
      servicePath,
      speaking('http/1.1', [Buffer.from('HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n')]),
      'service shop/web:80 of cluster "edge"',
    ],
  ]
  using session = openSession(server.url, server.credentials)
  for (const [path, answers, peer] of asked) {
    script = answers
    const [first] = await askTwice({ ...client(), path, next: '/version' })
    assert.equal(first?.status, 502, path)
    const { message, code }: { message: string; code: number } = JSON.parse(first.body)
    const text = `Cannot use the answer of ${peer}: its status 999 is not one from 200 to 599`
    assert.equal(message.replace(/ \(request [^)]+\)$/, ''), text)
    assert.equal(code, 502)
    assert.equal(await session.ask('GET', path), 502)
  }
})

/** A service that speaks so, at the other end of a connection that the agent has opened to it. */
function speaking(spoken: string, parts: readonly Buffer[]): Script {
  return (stream) => {
    stream.answer(['101', 'tcp.skerry', 'skerry-service-protocol', spoken])
    for (const part of parts) if (part.length > 0) stream.write(part)
    stream.end()
  }
}

test(`an odd answer of an edge's service ends its request only, over HTTP/1.1 (seed ${seed})`, async () => {
  for (const [what, parts] of oddRawAnswers(seed, rounds)) {
    script = speaking('http/1.1', parts)
    const asked = { ...client(), path: servicePath, fields: 'te: trailers\r\n', next: '/version' }
    const [, second] = await askTwice(asked)
    if (second) assert.match(second.body, /"gitVersion"/, what)
    await assertServes(what)
  }
})

test(`an odd answer of an edge's service ends its stream only, over HTTP/2 (seed ${seed})`, async () => {
  using session = openSession(server.url, server.credentials)
  for (const [what, parts] of oddRawAnswers(seed, rounds)) {
    script = speaking('http/1.1', parts)
    const status = await session.ask('GET', servicePath)
    assert.ok(status === 0 || (status >= 200 && status <= 599), `${what}: ${status}`)
    assert.equal(await session.ask('GET', '/version'), 200, what)
  }
})

test(`an odd answer of an edge's service ends one session only (seed ${seed})`, async () => {
  for (const [what, parts] of oddRawAnswers(seed, rounds)) {
    script = speaking('http/1.1', parts)
    const bytes = await askToUpgrade({ ...client(), path: servicePath }, 'websocket')
    if (!bytes.toString('latin1').startsWith('HTTP/1.1 101 ')) readAnswers(bytes, ['GET'])
    await assertServes(what)
  }
})

test(`odd frames of an edge's service end their request only (seed ${seed})`, async () => {
  const random = seededRandom(seed)
  using session = openSession(server.url, server.credentials)
  for (let round = 0; round < rounds; round += 1) {
    const parts = Array.from({ length: 1 + Math.floor(random.next() * 6) }, () => oddFrame(random))
    script = speaking('h2', [settingsFrame, ...parts])
    const what = Buffer.concat(parts).toString('hex')
    const status = await session.ask('GET', servicePath)
    assert.ok(status === 0 || (status >= 200 && status <= 599), `${what}: ${status}`)
    const [, second] = await askTwice({ ...client(), path: servicePath, next: '/version' })
    if (second) assert.match(second.body, /"gitVersion"/, what)
    assert.equal(await session.ask('GET', '/version'), 200, what)
  }
})

test('a page of an edge has an origin of its own, and no influence on the hub', async () => {
  const page = [
    ['content-type', 'text/html'],
    ['content-security-policy', "default-src 'self'"],
    ['set-cookie', '__Host-skerry-session=stolen; Path=/'],
    ['refresh', '0; url=/clusters/other/'],
    ['service-worker-allowed', '/'],
    ['access-control-allow-origin', '*'],
    ['access-control-allow-credentials', 'true'],
    ['clear-site-data', '"*"'],
    ['alt-svc', 'h3=":443"'],
    ['strict-transport-security', 'max-age=0'],
    ['nel', '{}'],
    ['report-to', '{}'],
    ['link', '</a>; rel=preload'],
    ['x-kept', 'yes'],
  ]
  const heads: string[] = []
  const paths = [apiPath, '/apis/cluster.karmada.io/v1alpha1/clusters/edge/proxy/']
  for (const path of paths) {
    script = (stream, head) => {
      heads.push(...head)
      answering({ lines: ['200', '', ...page.flat()], body: '<p>', isCut: false })(stream, head)
    }
    const fields = 'cookie: __Host-skerry-session=secret; a=b\r\naccept: text/html\r\n'
    const [first] = await askTwice({ ...client(), path, fields, next: '/version' })
    const own =
      /^(?:audit-id|cache-control|connection|content-length|date|keep-alive|transfer-encoding)$/
    const all = Object.entries(first?.headers ?? {})
    const told = Object.fromEntries(all.filter(([name]) => !own.test(name)))
    assert.deepEqual(told, {
      'content-type': 'text/html',
      'content-security-policy':
        "default-src 'self', sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts",
      'x-content-type-options': 'nosniff',
      'x-kept': 'yes',
    })
  }
  assert.ok(heads.includes('accept'))
  assert.ok(!heads.includes('cookie'), 'a cookie of the hub came to an edge')
})

async function assertServes(what: string): Promise<void> {
  const { status } = await callApi(server.transport, { path: '/version' })
  assert.equal(status, 200, what)
}
