/** Tests of agents that reach their hub over real-world networks. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { test } from 'node:test'
import { systemClock } from '@skerry/base'
import { createCluster, resources } from '@skerry/client'
import { registrationKeys } from '@skerry/membership'
import { createAuthority } from '@skerry/pki'
import { startTestProxy, type Inspection, until } from '@skerry/testing'
import {
  freshToken,
  startTestAgent,
  startTestEdge,
  startTestHub,
  untilCluster,
  type TestHub,
} from '../../testing/scenes/test-fleet.ts'
import type { WayFlags } from '../runtime/way-options.ts'
import { wayOfKubeconfig, wayToHub } from '../runtime/way-to-hub.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const operator = { commonName: 'olga', organizations: ['system:masters'] }

async function startWorld(options: Parameters<typeof startTestHub>[0] = {}) {
  await using stack = new AsyncDisposableStack()
  const edge = stack.use(await startTestEdge())
  const fleet = stack.use(await startTestHub(options))
  const directory = await mkdtemp(join(tmpdir(), 'skerry-way-'))
  stack.defer(() => rm(directory, { recursive: true }))
  const owned = stack.move()
  return { edge, fleet, directory, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

async function way(
  { url: hub }: TestHub,
  flags: WayFlags,
  environment: Readonly<Record<string, string>> = {},
) {
  const { connect } = await wayToHub(hub, flags, { clock: systemClock, environment })
  return { connect }
}

/** A user's request, through the hub to the edge's own API. */
async function namespacesAtEdge(fleet: TestHub): Promise<(string | undefined)[]> {
  using transport = await fleet.as(operator, '/clusters/edge')
  const deps = { clock: systemClock, log: fleet.context.log, userAgent: 'test' }
  const { items } = await createCluster(transport, deps)
    .resource(resources.namespaces)
    .list({}, soon())
  return items.map(({ metadata }) => metadata.name)
}

async function untilConnected(fleet: TestHub): Promise<void> {
  await untilCluster(fleet, 'edge', ({ Connected }) => Connected === 'True')
}

async function newInspection(): Promise<Inspection & { read: Buffer[] }> {
  const dates = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3_600_000 }
  const authority = await createAuthority({ subject: { commonName: 'Inspection' }, ...dates })
  return { authority, read: [] }
}

test('an agent registers, reports and is reached through a proxy that requires a login', async () => {
  await using world = await startWorld()
  const { fleet, edge, directory } = world
  await using proxy = await startTestProxy({ login: 'clerk:s3cret' })
  const file = join(directory, 'login')
  await writeFile(file, 'clerk:s3cret\n')
  const { connect } = await way(fleet, { proxy: proxy.url, proxyCredentialsFile: file })
  await using agent = await startTestAgent(fleet, { name: 'edge', api: edge.api, connect })
  await untilConnected(fleet)
  assert.ok((await namespacesAtEdge(fleet)).includes('default'))
  const { host } = new URL(fleet.url)
  assert.deepEqual([...new Set(proxy.asked)], [host])
  // A proxy cuts connections like this after a minute of idleness.
  const back = agent.connected()
  proxy.cut()
  await back
  assert.ok((await namespacesAtEdge(fleet)).includes('default'))
})

test('past a box that opens TLS an agent registers and is reached; the box reads nothing', async () => {
  await using world = await startWorld({ allowInspectedTls: true })
  const { fleet, edge } = world
  const inspection = await newInspection()
  await using box = await startTestProxy({ inspection })
  const { connect } = await way(fleet, { proxy: box.url, inspectedTls: true })
  const token = await freshToken(fleet, 'edge')
  await using _agent = await startTestAgent(fleet, { name: 'edge', api: edge.api, connect, token })
  await untilConnected(fleet)
  assert.ok((await namespacesAtEdge(fleet)).includes('default'))
  const read = Buffer.concat(inspection.read).toString('latin1')
  assert.match(read, /GET \/tunnel\/v1\/carrier /, 'it did look into the outer TLS')
  assert.doesNotMatch(read, new RegExp(token.split('.')[1] ?? 'token'))
  assert.doesNotMatch(read, /certificatesigningrequests|kube-system|Impersonate/i)
  // The person who accepts a registration sees its source address.
  const requests = fleet.admin.resource(resources.certificateSigningRequests)
  const { items } = await requests.list({}, soon())
  const from = items.map(({ spec }) => spec?.extra?.[registrationKeys.sourceAddress])
  assert.deepEqual(from, [['127.0.0.1']])
})

test('a box that changes passing traffic gets nowhere, nor does one that replays it', async () => {
  await using world = await startWorld({ allowInspectedTls: true })
  const { fleet, edge } = world
  const sent: Buffer[][] = []
  let isChanging = false
  const change = (chunk: Buffer): Buffer => {
    if (!isChanging || chunk.length < 64) return chunk
    const changed = Buffer.from(chunk)
    changed[chunk.length - 1] = (changed[chunk.length - 1] ?? 0) ^ 1
    return changed
  }
  const inspection = { ...(await newInspection()), sent, change }
  await using box = await startTestProxy({ inspection })
  const { connect } = await way(fleet, { proxy: box.url, inspectedTls: true })
  await using agent = await startTestAgent(fleet, { name: 'edge', api: edge.api, connect })
  await untilConnected(fleet)
  const opened = fleet.hub.connections.own.sessions('edge').length
  for (const recorded of sent) await playBack(fleet, Buffer.concat(recorded))
  assert.equal(fleet.hub.connections.own.sessions('edge').length, opened)
  const back = agent.connected()
  isChanging = true
  await assert.rejects(namespacesAtEdge(fleet))
  isChanging = false
  await back
  assert.ok((await namespacesAtEdge(fleet)).includes('default'))
})

/** Replays all bytes of a client's connection on another one, until the hub ends that. */
async function playBack({ url }: TestHub, recorded: Buffer): Promise<void> {
  const { hostname, port } = new URL(url)
  const to = { host: hostname, port: Number(port), rejectUnauthorized: false }
  const socket = connectTls({ ...to, ALPNProtocols: ['http/1.1'] })
  const answer: Buffer[] = []
  socket.on('data', (chunk: Buffer) => answer.push(chunk))
  socket.on('error', () => undefined)
  const closed = once(socket, 'close', { signal: soon() })
  socket.write(recorded)
  await closed
  assert.match(Buffer.concat(answer).toString('latin1'), /^HTTP\/1.1 101 /, 'the carrier did open')
}

test('data that is not TLS in a carrier ends it, and nothing else', async () => {
  await using fleet = await startTestHub({ allowInspectedTls: true })
  const { connect } = await way(fleet, { inspectedTls: true })
  const { hostname: host, port } = new URL(fleet.url)
  const carrier = await connect({ host, port: Number(port) }, soon())
  carrier.on('error', () => undefined)
  const ended = new Promise<void>((resolve) => carrier.once('end', () => resolve()))
  carrier.resume()
  carrier.write('GET / HTTP/1.1\r\n\r\n')
  await ended
  using transport = await fleet.as(operator)
  const answer = await transport.send({ method: 'GET', path: '/version', headers: {} }, soon())
  assert.equal(answer.status, 200)
  await Array.fromAsync(answer.body)
})

test('unless configured to, neither end goes past a box that opens TLS', async () => {
  await using world = await startWorld()
  const { fleet, edge } = world
  await using box = await startTestProxy({ inspection: await newInspection() })
  const open = await way(fleet, { proxy: box.url })
  const refused = await way(fleet, { proxy: box.url, inspectedTls: true })
  const to = { host: '127.0.0.1', port: Number(new URL(fleet.url).port) }
  await assert.rejects(
    refused.connect(to, soon()),
    /the hub answered 40[13].*--allow-inspected-tls/,
  )
  // A registered agent trusts its hub's authority alone.
  const directory = join(fleet.directory, 'registered')
  {
    await using _agent = await startTestAgent(fleet, { name: 'edge', api: edge.api, directory })
    await untilConnected(fleet)
  }
  await using agent = await startTestAgent(fleet, {
    name: 'edge',
    api: edge.api,
    directory,
    token: '',
    ...open,
  })
  await until(() => agent.refusals.length > 0, soon())
  assert.match(agent.refusals.join('\n'), /Cannot trust .*issued by CN=Inspection/)
})

test('a hub on IPv6 is joined, reported to and used by its address', async () => {
  await using world = await startWorld({ bindAddress: '::1' })
  const { fleet, edge } = world
  assert.match(fleet.url, /^https:\/\/\[::1\]:\d+$/)
  await using _agent = await startTestAgent(fleet, { name: 'edge', api: edge.api })
  await untilConnected(fleet)
  assert.ok((await namespacesAtEdge(fleet)).includes('default'))
})

test('the environment chooses the proxy; NO_PROXY and the option come before it', async () => {
  const hub = 'https://hub.example:443'
  const deps = (environment: Readonly<Record<string, string>>) => ({
    clock: systemClock,
    environment,
  })
  const chosen = async (flags: WayFlags, environment: Readonly<Record<string, string>>) =>
    (await wayToHub(hub, flags, deps(environment))).described
  const HTTPS_PROXY = 'http://clerk:s3cret@proxy.corp:3128'
  assert.deepEqual(await chosen({}, { HTTPS_PROXY }), {
    proxy: 'http://proxy.corp:3128',
    chosenBy: 'HTTPS_PROXY',
  })
  assert.deepEqual(await chosen({}, { HTTPS_PROXY, NO_PROXY: '.example' }), {})
  assert.deepEqual(await chosen({}, { https_proxy: 'proxy.corp:8080' }), {
    proxy: 'http://proxy.corp:8080',
    chosenBy: 'https_proxy',
  })
  const proxy = 'https://other.corp:3129'
  assert.deepEqual(await chosen({ proxy }, { HTTPS_PROXY, NO_PROXY: '*' }), {
    proxy,
    chosenBy: '--proxy',
  })
})

test('a user who asks a hub elsewhere goes through the proxy of their kubeconfig or environment, as kubectl does', async () => {
  const server = 'https://hub.example:443/clusters/shop-7'
  const chosen = async (proxyUrl: string | undefined, environment: Record<string, string>) => {
    const target = { server, ...(proxyUrl === undefined ? {} : { proxyUrl }) }
    return (await wayOfKubeconfig(target, { clock: systemClock, environment })).described.proxy
  }
  const HTTPS_PROXY = 'http://clerk:s3cret@proxy.corp:3128'
  const named = 'http://other.corp:3129'
  assert.equal(await chosen(undefined, {}), undefined)
  assert.equal(await chosen(undefined, { HTTPS_PROXY }), 'http://proxy.corp:3128')
  assert.equal(await chosen(undefined, { HTTPS_PROXY, NO_PROXY: 'hub.example' }), undefined)
  assert.equal(await chosen(named, { HTTPS_PROXY, NO_PROXY: '*' }), named)
  const wrong = chosen('socks5://a:s3cret@proxy', {})
  await assert.rejects(wrong, /Cannot use proxy-url of the kubeconfig: .*SOCKS is not spoken$/)
})

const mistakes: readonly [
  what: string,
  flags: WayFlags,
  environment: Record<string, string>,
  RegExp,
][] = [
  ['a password in an argument', { proxy: 'http://a:s3cret@proxy' }, {}, /--proxy-credentials-file/],
  ['an invalid URL', { proxy: 'http://' }, {}, /Cannot use --proxy: it is not the URL/],
  ['SOCKS', {}, { HTTPS_PROXY: 'socks5://a:s3cret@proxy' }, /HTTPS_PROXY.*SOCKS is not spoken/],
  [
    'a file that is not there',
    { proxy: 'http://proxy', proxyCredentialsFile: '/nowhere/login' },
    {},
    /Cannot use --proxy-credentials-file \/nowhere\/login: ENOENT/,
  ],
]
for (const [what, flags, environment, words] of mistakes) {
  test(`${what} is refused at the start, and no password is shown`, async () => {
    const choosing = wayToHub('https://hub.example', flags, { clock: systemClock, environment })
    await assert.rejects(choosing, (error) => {
      assert.match(String(error), words)
      assert.doesNotMatch(String(error), /s3cret/)
      return true
    })
  })
}

test('an invalid address of a hub is refused at the start, with an example of a valid one', async () => {
  const refused = (hub: string) =>
    assert.rejects(wayToHub(hub, {}, { clock: systemClock, environment: {} }), (error) => {
      assert.match(String(error), /not an address such as https:\/\/hub\.example\.com:7443$/)
      assert.doesNotMatch(String(error), /s3cret/)
      return true
    })
  const schemes = ['', 'hub.example:7443', 'http://hub.example:7443', 'wss://hub.example']
  const more = [
    'https://hub.example/path',
    'https://hub.example?x',
    'https://me:s3cret@hub.example',
  ]
  for (const odd of [...schemes, ...more]) await refused(odd)
  for (const plain of ['https://hub.example', 'https://hub.example:443/', 'https://[::1]:7443']) {
    await wayToHub(plain, {}, { clock: systemClock, environment: {} })
  }
})
