import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { test } from 'node:test'
import { connect } from 'node:tls'
import { clusterAccessResource } from '@skerry/fleet-kinds'
import { untilAudited, type AuditedLine } from '../../testing/scenes/audited-lines.ts'
import {
  registerCluster,
  startTestAgent,
  startTestHub,
  type TestHub,
} from '../../testing/scenes/test-fleet.ts'

const soon = (): AbortSignal => AbortSignal.timeout(5_000)
const domain = 'clusters.example.com'

/** Stands in for an API server, and records the requests other than the agent's own. */
async function startEdge(name: string) {
  const seen: { name: string; url: string; headers: IncomingMessage['headers'] }[] = []
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const isAgent = request.headers['user-agent']?.endsWith('(agent)') === true
    if (!isAgent) seen.push({ name, url: request.url ?? '', headers: request.headers })
    request.resume()
    request.on('end', () => response.end(`${name} ${request.url}`))
  })
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    seen.push({ name, url: request.url ?? '', headers: request.headers })
    socket.end(
      `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${request.headers.upgrade}\r\n\r\n${name}`,
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A listening TCP server has an address of this shape.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Two sites, of which mallory may reach one, and only to look. */
async function startFleet() {
  await using stack = new AsyncDisposableStack()
  const fleet = stack.use(await startTestHub({ clusterDomain: domain }))
  const [oslo, rome] = [stack.use(await startEdge('oslo')), stack.use(await startEdge('rome'))]
  for (const [name, edge] of [
    ['oslo', oslo],
    ['rome', rome],
  ] as const) {
    const agent = await startSite(fleet, name, edge.url)
    stack.use(agent)
  }
  await fleet.admin.resource(clusterAccessResource).create(
    {
      apiVersion: 'hub.skerry.io/v1alpha1',
      kind: 'ClusterAccess',
      metadata: { name: 'guests' },
      spec: {
        subjects: [{ kind: 'User', name: 'mallory', apiGroup: 'rbac.authorization.k8s.io' }],
        clusterSelector: { matchLabels: { site: 'oslo' } },
        verbs: ['get', 'list'],
      },
    },
    soon(),
  )
  const owned = stack.move()
  const seen = () => [...oslo.seen, ...rome.seen]
  return { fleet, oslo, rome, seen, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

async function startSite(fleet: TestHub, name: string, server: string) {
  await registerCluster(fleet, name, { site: name })
  const agent = await startTestAgent(fleet, { name, api: { server } })
  await agent.connected()
  return agent
}

interface Sent {
  /** The head and body on the wire. */
  text: string
  serverName?: string
  user?: string
  groups?: string[]
}

/** Sends raw bytes, and resolves with everything that comes back until the hub closes. */
async function exchange(
  fleet: TestHub,
  { text, serverName, user = 'mallory', groups = [] }: Sent,
): Promise<string> {
  const subject = { commonName: user, organizations: groups }
  const { certificate: cert, key } = await fleet.credentialsOf(subject)
  const port = Number(new URL(fleet.url).port)
  const socket = connect({
    host: '127.0.0.1',
    port,
    ca: fleet.caPem,
    cert,
    key,
    ...(serverName === undefined ? {} : { servername: serverName }),
    checkServerIdentity: () => undefined,
  })
  socket.write(text)
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString()
}

function get(target: string, ...fields: string[]): string {
  const hosts = fields.some((field) => /^host:/i.test(field)) ? [] : ['Host: hub']
  return [`GET ${target} HTTP/1.1`, ...hosts, ...fields, 'Connection: close', '', ''].join('\r\n')
}

function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0)
}

test('a cluster is reached by its host name as by its path, and by no other name', async () => {
  await using all = await startFleet()
  const { fleet, oslo } = all
  const host = `oslo.${domain}`
  const { port } = new URL(fleet.url)
  const good: [fields: string[], serverName: string][] = [
    [[`Host: ${host}`], host],
    [[`Host: ${host}:${port}`], host],
    [[`Host: OSLO.Clusters.example.com.`], host],
  ]
  for (const [fields, serverName] of good) {
    const answer = await exchange(fleet, { text: get('/version?x=1', ...fields), serverName })
    assert.ok(answer.endsWith('oslo /version?x=1') || answer.includes('oslo /version?x=1'), answer)
  }
  assert.equal(oslo.seen[0]?.headers['impersonate-user'], 'mallory')
  const upgrade = get(
    '/api/v1/namespaces/a/pods/b/log',
    `Host: ${host}`,
    'Upgrade: websocket',
  ).replace('Connection: close', 'Connection: Upgrade')
  const switched = await exchange(fleet, { text: upgrade, serverName: host })
  assert.match(switched, /^HTTP\/1\.1 101 [^]*oslo$/)
  // The same rights as by the path.
  const rome = `rome.${domain}`
  const refused = await exchange(fleet, {
    text: get('/version', `Host: ${rome}`),
    serverName: rome,
  })
  assert.equal(statusOf(refused), 403)
  assert.match(refused, /clusters.cluster.karmada.io \\"rome\\" is forbidden: User \\"mallory\\"/)
  // There is no way back to the hub either, or over to another cluster.
  for (const target of ['/../../api', '//clusters/rome/version', '/%2e%2e/rome/version', '/a/..']) {
    const answer = await exchange(fleet, { text: get(target, `Host: ${host}`), serverName: host })
    assert.equal(statusOf(answer), 400, target)
  }
  const path = await exchange(fleet, {
    text: get('/clusters/rome/version', `Host: ${host}`),
    serverName: host,
  })
  assert.match(path, /oslo \/clusters\/rome\/version/)
  const authority = await overHttp2(fleet, host, { ':path': '/version', ':authority': host })
  assert.deepEqual(authority, { status: 200, body: 'oslo /version' })
  const other = await overHttp2(fleet, host, { ':path': '/version', ':authority': rome })
  assert.equal(other.status, 421)
  const both = await overHttp2(fleet, host, { ':path': '/version', ':authority': host, host: rome })
  assert.equal(both.status, 400)
})

async function overHttp2(fleet: TestHub, serverName: string, headers: Record<string, string>) {
  const { certificate: cert, key } = await fleet.credentialsOf({ commonName: 'mallory' })
  const session = connectHttp2(fleet.url, { ca: fleet.caPem, cert, key, servername: serverName })
  try {
    const stream = session.request({ ':method': 'GET', ...headers })
    const status = new Promise<number>((resolve, reject) => {
      stream.on('response', (head) => resolve(Number(head[':status'])))
      stream.on('error', reject)
    })
    const chunks: Buffer[] = []
    for await (const chunk of stream) chunks.push(Buffer.from(chunk))
    return { status: await status, body: Buffer.concat(chunks).toString() }
  } finally {
    session.close()
  }
}

test('a client that checks names trusts the name of every cluster', async () => {
  await using all = await startFleet()
  const { certificate: cert, key } = await all.fleet.credentialsOf({ commonName: 'mallory' })
  const socket = connect({
    host: '127.0.0.1',
    port: Number(new URL(all.fleet.url).port),
    ca: all.fleet.caPem,
    cert,
    key,
    servername: `oslo.${domain}`,
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('secureConnect', resolve)
    socket.once('error', reject)
  })
  assert.ok(socket.authorized)
  socket.destroy()
})

const body = 'GET /clusters/rome/version HTTP/1.1\r\nHost: hub\r\n\r\n'
const oslo = `oslo.${domain}`
const rome = `rome.${domain}`

/** Known attempts to get past one's rights, and the hub's answer to each. */
const attacks: [what: string, sent: Sent, status: number][] = [
  ['another cluster', { text: get('/clusters/rome/version') }, 403],
  ['another cluster by dots', { text: get('/clusters/oslo/../rome/version') }, 400],
  ['another cluster by encoded dots', { text: get('/clusters/oslo/%2e%2e/rome/version') }, 400],
  ['another cluster by an encoded slash', { text: get('/clusters/oslo%2f..%2frome/version') }, 400],
  ['another cluster by a backslash', { text: get('/clusters/oslo/..%5crome/version') }, 400],
  ['a name in percent escapes', { text: get('/clusters/%72ome/version') }, 400],
  ['a name in capitals', { text: get('/clusters/ROME/version') }, 400],
  ['a prefix in percent escapes', { text: get('/%63lusters/rome/version') }, 400],
  ['a doubled slash', { text: get('/clusters//rome/version') }, 400],
  ['a session by GET', { text: get('/clusters/oslo/api/v1/namespaces/a/pods/b/exec') }, 403],
  ['a watch with the right to list', { text: get('/clusters/oslo/api/v1/pods?watch=1') }, 403],
  ['absolute-form', { text: get('https://hub/clusters/rome/version') }, 400],
  [
    'absolute-form of a cluster',
    { text: get(`https://${rome}/version`, `Host: ${oslo}`), serverName: oslo },
    400,
  ],
  ['two Hosts', { text: get('/version', `Host: ${oslo}`, `Host: ${rome}`), serverName: oslo }, 400],
  [
    'the same Host twice',
    { text: get('/version', `Host: ${oslo}`, `Host: ${oslo}`), serverName: oslo },
    400,
  ],
  ['two Hosts in one', { text: get('/version', `Host: ${oslo}, ${rome}`), serverName: oslo }, 400],
  ['a Host with a user', { text: get('/version', `Host: x@${rome}`), serverName: oslo }, 400],
  [
    'a Host that is not the name of TLS',
    { text: get('/version', `Host: ${rome}`), serverName: oslo },
    421,
  ],
  ['a Host of a cluster without a name of TLS', { text: get('/version', `Host: ${oslo}`) }, 421],
  [
    "the hub's Host under a cluster's name of TLS",
    { text: get('/version'), serverName: oslo },
    421,
  ],
  [
    'a name below a cluster',
    { text: get('/version', `Host: a.${oslo}`), serverName: `a.${oslo}` },
    421,
  ],
  ['acting as another', { text: get('/clusters/oslo/version', 'Impersonate-User: olga') }, 403],
  [
    'acting as another, in capitals',
    { text: get('/clusters/oslo/version', 'IMPERSONATE-USER: olga') },
    403,
  ],
  [
    'another group',
    {
      text: get(
        '/clusters/oslo/version',
        'impersonate-user: mallory',
        'Impersonate-Group: system:masters',
      ),
    },
    403,
  ],
  [
    'a group without a user',
    { text: get('/clusters/oslo/version', 'Impersonate-Group: system:masters') },
    400,
  ],
  [
    'two lengths',
    {
      text:
        get('/clusters/oslo/version', 'Content-Length: 0', `Content-Length: ${body.length}`) + body,
    },
    400,
  ],
  [
    'a length and pieces',
    {
      text:
        get(
          '/clusters/oslo/version',
          `Content-Length: ${body.length}`,
          'Transfer-Encoding: chunked',
        ) + `0\r\n\r\n${body}`,
    },
    400,
  ],
  [
    'pieces in another spelling',
    { text: get('/clusters/oslo/version', 'Transfer-Encoding: xchunked') + body },
    400,
  ],
  [
    'a header in two lines',
    { text: get('/clusters/oslo/version', 'X-A: b\r\n Impersonate-User: olga') },
    400,
  ],
  [
    'a bare line feed',
    { text: get('/clusters/oslo/version', 'X-A: b\nImpersonate-User: olga') },
    400,
  ],
  [
    'a space before the colon',
    { text: get('/clusters/oslo/version', 'Impersonate-User : olga') },
    400,
  ],
  [
    'an upgrade to another cluster',
    { text: upgradeOf('/clusters/rome/api/v1/namespaces/a/pods/b/exec') },
    403,
  ],
  ['an upgrade to the tunnel of a cluster', { text: upgradeOf('/tunnel/v1/clusters/oslo') }, 403],
  [
    'an upgrade to a session',
    { text: upgradeOf('/clusters/oslo/api/v1/namespaces/a/pods/b/exec') },
    403,
  ],
]

function upgradeOf(target: string): string {
  return get(target, 'Upgrade: websocket').replace('Connection: close', 'Connection: Upgrade')
}

test('a user who reaches past their rights is refused, clearly, and it is recorded', async () => {
  await using all = await startFleet()
  const { fleet } = all
  for (const [what, sent, status] of attacks) {
    const answer = await exchange(fleet, sent)
    assert.equal(statusOf(answer), status, `${what}: ${answer}`)
    assert.deepEqual(all.seen(), [], `${what}: came to a cluster`)
  }
  // A body in an unknown coding has two lines: one as a request, one when its body cannot be read.
  const wanted = [...attacks.map(([, , status]) => status), 400]
  const isWanted = ({ user }: AuditedLine): boolean => user === 'mallory'
  const lines = await untilAudited(fleet, { count: wanted.length, isWanted }, soon())
  const statuses = lines.map(({ status }) => status)
  const sorted = (numbers: number[]) => numbers.toSorted((a, b) => a - b)
  assert.deepEqual(sorted(statuses), sorted(wanted), lines.map(({ uri }) => uri).join())
})

test('headers that name a user come from the hub alone, however they are spelled', async () => {
  await using all = await startFleet()
  const spellings = [
    'X-Remote-User: root',
    'x-remote-group: system:masters',
    'X-REMOTE-EXTRA-SCOPES: all',
    'X-Remote-Uid: 0',
    'X_Remote_User: root',
    'impersonate_user: root',
    'Impersonate_Group: system:masters',
    'X-Forwarded-For: 10.0.0.1',
    'X-Forwarded-User: root',
    'X-Skerry-Virtual-Cluster: west',
    'x_skerry_virtual_user: root',
    'Forwarded: for=10.0.0.1',
    'Authorization: Basic cm9vdDpyb290',
    'Audit-ID: 00000000-0000-0000-0000-000000000000',
  ]
  const answer = await exchange(all.fleet, {
    text: get('/clusters/oslo/version', ...spellings, 'Via: 1.1 a', 'X-Real-Ip: 10.0.0.1'),
  })
  assert.equal(statusOf(answer), 200, answer)
  const kept = Object.entries(all.oslo.seen[0]?.headers ?? {}).filter(
    ([name]) =>
      /remote|impersonate|forwarded|skerry|authorization|real-ip|via/.test(name) &&
      // The hash of the client's certificate, which is new in each run.
      !name.endsWith('credential-id'),
  )
  assert.deepEqual(Object.fromEntries(kept), {
    'impersonate-user': 'mallory',
    'x-forwarded-for': '127.0.0.1',
  })
})
