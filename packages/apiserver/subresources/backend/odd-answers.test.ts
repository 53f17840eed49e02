import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { get } from 'node:https'
import { connect as connectTcp, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { systemClock, systemRandom } from '@skerry/base'
import {
  askToUpgrade,
  askTwice,
  callApi,
  failOnUncaught,
  oddRawAnswers,
  openSession,
  readAnswers,
  says,
  saysPieces,
  startRawPeer,
  startTestApiServer,
  webhookCertificate,
  type RawPeer,
  type TestApiServer,
} from '@skerry/testing'
import { createRemoteApi } from '../../aggregation/remote-api.ts'
import type { Route } from '../../contract/route.ts'

/** Servers that answer anything must never end more than one request. */
const seed = 20_261_123
const rounds = 60

let plain: RawPeer
let secure: RawPeer
let server: TestApiServer
failOnUncaught()
const namespace = '/api/v1/namespaces/shop'
const proxied = {
  'pods/proxy': `${namespace}/pods/web:80/proxy/a`,
  'services/proxy': `${namespace}/services/web:80/proxy/a`,
  'nodes/proxy': '/api/v1/nodes/n1/proxy/pods',
  'an extension server': '/apis/odd.example.com/v1/things',
}
let askedCount = 0
const pod = `${namespace}/pods/web`
const paths = [
  `${pod}/exec?command=a&stdout=1`,
  `${pod}/attach?stdout=1`,
  `${pod}/portforward?ports=80`,
  `${pod}/log`,
  ...Object.values(proxied),
]
const protocols = ['SPDY/3.1', 'websocket']
const sessions = paths.flatMap((path) => protocols.map((protocol) => [path, protocol] as const))

before(async () => {
  plain = await startRawPeer(says(''))
  const tls = await webhookCertificate()
  secure = await startRawPeer(says(''), { tls })
  server = await startTestApiServer({
    withAccess: true,
    dial: { dialAddress: () => dial(plain), dialNode: () => dial(plain) },
    routes: [extensionRoute(tls)],
    namespaces: ['default', 'kube-system', 'shop'],
  })
  await makeObjects()
  await makeWebhook(tls.ca)
})

after(async () => {
  await server[Symbol.asyncDispose]()
  plain[Symbol.dispose]()
  secure[Symbol.dispose]()
})

async function dial({ port }: RawPeer): Promise<Socket> {
  const socket = connectTcp({ host: '127.0.0.1', port, allowHalfOpen: true })
  await once(socket, 'connect')
  return socket
}

/** Returns a route as the aggregator makes it for the group of a running extension server. */
function extensionRoute({ cert, key }: { cert: string; key: string }): Route {
  const api = () =>
    createRemoteApi(
      {
        service: { namespace: 'shop', name: 'web', port: 80 },
        authorityPem: undefined,
        isUnchecked: true,
      },
      true,
      {
        objects: server.objects,
        clock: systemClock,
        random: systemRandom,
        dial: { dialAddress: () => dial(secure) },
        identity: () => ({ certificatePem: cert, privateKeyPem: key }),
      },
    )
  return {
    prefix: '/apis/odd.example.com/',
    serve: (admitted) => api().serve(admitted),
    upgrade: async (admitted, client) => api().upgrade(admitted, client),
  }
}

async function makeObjects(): Promise<void> {
  const spec = { nodeName: 'n1', containers: [{ name: 'app', image: 'app' }] }
  const address = { ip: '10.9.1.1' }
  await make(`${namespace}/serviceaccounts`, { metadata: { name: 'default' } })
  await make('/api/v1/nodes', { metadata: { name: 'n1' } })
  await setStatus('/api/v1/nodes/n1', { addresses: [{ type: 'InternalIP', address: '10.9.0.1' }] })
  await make(`${namespace}/pods`, { metadata: { name: 'web' }, spec })
  await setStatus(`${namespace}/pods/web`, { podIP: address.ip, podIPs: [address] })
  await make(`${namespace}/services`, {
    metadata: { name: 'web' },
    spec: { ports: [{ port: 80 }] },
  })
  const subsets = [{ addresses: [address], ports: [{ port: 80 }] }]
  await make(`${namespace}/endpoints`, { metadata: { name: 'web' }, subsets })
  const slices = `/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices`
  await make(slices, {
    metadata: { name: 'web', labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [address.ip] }],
    ports: [{ name: '', port: 80 }],
  })
}

async function makeWebhook(ca: string): Promise<void> {
  const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }
  const url = `https://127.0.0.1:${secure.port}/`
  await make('/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', {
    metadata: { name: 'odd' },
    webhooks: [
      {
        name: 'odd.example.com',
        clientConfig: { url, caBundle: Buffer.from(ca).toString('base64') },
        rules: [{ ...rule, operations: ['CREATE'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        timeoutSeconds: 1,
      },
    ],
  })
}

async function make(path: string, body: object): Promise<void> {
  const reply = await callApi(server.transport, { method: 'POST', path, body })
  assert.ok(reply.status === 201 || reply.status === 409, reply.text)
}

async function setStatus(path: string, status: object): Promise<void> {
  const headers = { 'content-type': 'application/merge-patch+json' }
  const call = { method: 'PATCH' as const, path: `${path}/status`, headers, body: { status } }
  const reply = await callApi(server.transport, call)
  assert.equal(reply.status, 200, reply.text)
}

/** Sets the answer of both peers, with and without TLS. */
function answerWith(answer: RawPeer['answer']): void {
  const counted: RawPeer['answer'] = (...asked) => {
    askedCount += 1
    return answer(...asked)
  }
  plain.answer = counted
  secure.answer = counted
}

/**
 * Answers that have crashed a server, and then seeded ones, each with its description and the
 * request's method.
 */
function* odd(): Generator<[what: string, method: string]> {
  for (const [what, parts, random] of oddRawAnswers(seed, rounds)) {
    answerWith(saysPieces(parts, random))
    yield [what, random.next() < 0.3 ? 'HEAD' : 'GET']
  }
}

const client = () => ({ url: server.url, credentials: server.credentials })

for (const [place, path] of Object.entries(proxied)) {
  test(`an odd answer of ${place} ends its request only, over HTTP/1.1 (seed ${seed})`, async () => {
    for (const [what, method] of odd()) {
      const [, second] = await askTwice({ ...client(), method, path, next: '/version' })
      if (second) assert.match(second.body, /"gitVersion"/, `${method} ${what}`)
    }
  })

  test(`an odd answer of ${place} ends its stream only, over HTTP/2 (seed ${seed})`, async () => {
    using session = openSession(server.url, server.credentials)
    for (const [what, method] of odd()) {
      const status = await session.ask(method, path)
      assert.ok(status === 0 || (status >= 200 && status <= 599), `${what}: ${status}`)
      assert.equal(await session.ask('GET', '/version'), 200, what)
    }
  })
}

const peers: Readonly<Record<keyof typeof proxied, string>> = {
  'pods/proxy': 'the pod at 10.9.1.1:80',
  'services/proxy': 'the service at 10.9.1.1:80',
  'nodes/proxy': 'the node at 10.9.0.1:10250',
  'an extension server': 'the extension server shop/web',
}

for (const [place, path] of Object.entries(proxied)) {
  test(`a status of ${place} that no server may pass on is 502, and names the peer`, async () => {
    answerWith(says('HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n'))
    // Both tables have the same keys.
    const peer = peers[place as keyof typeof peers]
    const [first] = await askTwice({ ...client(), path, next: '/version' })
    assert.equal(first?.status, 502)
    const { message, code }: { message: string; code: number } = JSON.parse(first.body)
    const fault = 'its status 999 is not one from 200 to 599'
    assert.deepEqual([message, code], [`Cannot use the answer of ${peer}: ${fault}`, 502])
    using session = openSession(server.url, server.credentials)
    assert.equal(await session.ask('GET', path), 502)
  })
}

for (const [path, protocol] of sessions) {
  test(`an odd answer to ${protocol} at ${path} ends that session only (seed ${seed})`, async () => {
    askedCount = 0
    for (const [what] of odd()) {
      const bytes = await askToUpgrade({ ...client(), path }, protocol)
      const switched = `HTTP/1.1 101 Switching Protocols\r\n`
      if (!bytes.toString('latin1').startsWith(switched)) readAnswers(bytes, ['GET'])
      const { status } = await callApi(server.transport, { path: '/version' })
      assert.equal(status, 200, what)
    }
    // Logs come over WebSocket or as an answer, and never over SPDY, so the backend is not asked
    // for one.
    const isAsked = protocol === 'websocket' || !path.endsWith('/log')
    assert.equal(askedCount > 0, isAsked)
  })
}

test("a hub's cookies stay here, whether a client or a backend names them", async () => {
  const session = '__Host-skerry-session=secret'
  const cookie = `theme=dark; ${session}; skerry-other=1`
  const fields = `cookie: ${cookie}\r\n`
  let asked = ''
  const page = '<h1>a page</h1>'
  answerWith((connection, head) => {
    asked = head
    const lines = ['HTTP/1.1 200 OK', `Set-Cookie: ${session}; Path=/; Secure`]
    const more = ['Set-Cookie: cart=7', 'content-type: text/html', `content-length: ${page.length}`]
    connection.write(`${[...lines, ...more].join('\r\n')}\r\n\r\n${page}`)
  })
  for (const [place, path] of Object.entries(proxied)) {
    const isApi = place === 'nodes/proxy' || place === 'an extension server'
    const { headers } = await rawGet(path, { cookie })
    assert.doesNotMatch(asked, /secret|skerry-other/, place)
    assert.equal(/^cookie: theme=dark\r$/im.test(asked), !isApi, place)
    const isExtension = place === 'an extension server'
    assert.deepEqual(headers['set-cookie'], isExtension ? undefined : ['cart=7'], place)
    if (!isExtension) continue
    assert.equal(headers['content-security-policy'], 'sandbox')
    assert.equal(headers['x-content-type-options'], 'nosniff')
  }
  for (const [path, protocol] of sessions.filter(([each]) => !each.endsWith('/log'))) {
    const bytes = await askToUpgrade({ ...client(), path, fields }, protocol)
    assert.doesNotMatch(asked, /secret|skerry-other/, path)
    assert.doesNotMatch(bytes.toString('latin1'), /secret/, path)
  }
})

async function rawGet(path: string, headers: Record<string, string>): Promise<IncomingMessage> {
  const request = get(new URL(path, server.url), { ...server.credentials, headers, agent: false })
  // The listener of `response` gets the answer.
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  answer.resume()
  return answer
}

test(`an odd answer of a webhook fails its request only (seed ${seed})`, async () => {
  let count = 0
  for (const [what] of odd()) {
    const body = { metadata: { name: `odd-${(count += 1)}` } }
    const call = { method: 'POST' as const, path: `${namespace}/configmaps`, body }
    const reply = await callApi(server.transport, call)
    assert.match(reply.body?.message ?? '', /failed calling webhook "odd.example.com"/, what)
    assert.equal(reply.status, 500, what)
  }
})
