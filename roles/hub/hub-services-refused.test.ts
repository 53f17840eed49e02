import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2'
import { after, before, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { clusterAccessResource } from '@skerry/fleet-kinds'
import { startServiceScene, type ServiceScene } from '../../testing/scenes/service-scene.ts'

let scene: ServiceScene
/** The number of connections to a server that nobody may reach. */
let reached = 0
/** An address that nobody has (RFC 5737). */
const nodeAddress = '198.51.100.7'

before(async () => {
  scene = await startServiceScene([
    'shop/web:80',
    'shop/any-port:*',
    'shop/named:metrics',
    'anywhere=shop/named-name:80',
    'anywhere=shop/cloud:80',
    'anywhere=shop/cloud6:80',
    'anywhere=shop/node:80',
    'anywhere=shop/away-1:80',
    'anywhere=shop/away-2:80',
    'anywhere=shop/away-3:80',
    'shop/name-by-number:80',
    'shop/empty:80',
    'shop/twice:80',
    'shop/twice-h2:80',
    'shop/gone:80',
  ])
  await scene.allow('sven', ['*'])
  await scene.allow('api-only', ['*'], 'clusters/proxy')
  await scene.createNode('node-1', nodeAddress)
})

after(() => scene[Symbol.asyncDispose]())

const root = '/clusters/edge/services'

async function refusal(path: string, options = {}): Promise<[status: number, message: string]> {
  const { status, text } = await scene.call(path, options)
  // Refusals are a Status.
  return [status, text.startsWith('{') ? String(JSON.parse(text).message) : text]
}

test('a service that the edge does not allow is not reached, and is not even looked up', async () => {
  const hidden = createServer((_request, response) => {
    reached += 1
    response.end()
  })
  const port = await scene.serve('web', hidden)
  await scene.createService('hidden', { ports: [{ port: 80 }] })
  await scene.createEndpoints('hidden', [scene.address], { port })
  for (const name of ['hidden', 'not-there']) {
    assert.deepEqual(await refusal(`${root}/shop/${name}:80/`), [
      403,
      `Cannot reach service shop/${name}:80 of cluster "edge": its agent does not allow it; start the agent with --allow-service shop/${name}:80`,
    ])
  }
  assert.equal(reached, 0)
  assert.equal((await scene.call(`${root}/shop/web:80/`)).status, 200)
  assert.equal(reached, 1)
})

test('another port of an allowed service, and a service that is not there, are refused', async () => {
  await scene.createService('named', {
    selector: { app: 'named' },
    ports: [
      { name: 'metrics', port: 9100 },
      { name: 'admin', port: 9200 },
    ],
  })
  const [status, text] = await refusal(`${root}/shop/named:admin/`)
  assert.equal(status, 403)
  assert.match(text, /its agent does not allow it/)
  // The number names the same port.
  assert.match((await refusal(`${root}/shop/named:9100/`))[1], /it has no ready endpoints/)
  assert.deepEqual(await refusal(`${root}/shop/named:77/`), [
    404,
    'Cannot reach service shop/named:77 of cluster "edge": service "named" has no TCP port 77',
  ])
  assert.deepEqual(await refusal(`${root}/shop/gone:80/`), [
    404,
    'Cannot reach service shop/gone:80 of cluster "edge": services "gone" not found',
  ])
})

test('a right to the API is not a right to services, nor the other way round', async () => {
  await scene.allow('reader', ['get'])
  const table: [user: string, method: string, path: string, verb: string][] = [
    ['nobody', 'GET', `${root}/shop/web:80/`, 'get resource "clusters/services"'],
    ['api-only', 'GET', `${root}/shop/web:80/`, 'get resource "clusters/services"'],
    ['sven', 'GET', '/clusters/edge/version', 'get resource "clusters/proxy"'],
    ['reader', 'POST', `${root}/shop/web:80/`, 'create resource "clusters/services"'],
    ['reader', 'PURGE', `${root}/shop/web:80/`, 'create resource "clusters/services"'],
    ['reader', 'DELETE', `${root}/shop/web:80/`, 'delete resource "clusters/services"'],
  ]
  for (const [commonName, method, path, verb] of table) {
    const [status, text] = await refusal(path, { user: { commonName }, method })
    assert.equal(status, 403, `${commonName} ${method} ${path}`)
    assert.match(text, new RegExp(`User "${commonName}" cannot ${verb}`))
  }
  const user = { commonName: 'reader' }
  assert.equal((await scene.call(`${root}/shop/web:80/`, { user })).status, 200)
  const headers = { connection: 'Upgrade', upgrade: 'websocket' }
  const [status, text] = await refusal(`${root}/shop/web:80/`, { user, headers })
  assert.deepEqual([status, /cannot create/.test(text)], [403, true])
  const lines = await scene.audited(`${root}/shop/web:80/`, 6)
  const line = lines.find((each) => each.user === 'api-only')
  assert.equal(line?.status, 403)
})

test('a ClusterAccess leads to services by the verbs that it lists for them, and by no others', async () => {
  const spec = {
    subjects: [{ kind: 'Group', name: 'north', apiGroup: 'rbac.authorization.k8s.io' }],
    clusterSelector: {},
    verbs: ['*'],
  }
  const user = { commonName: 'nora', organizations: ['north'] }
  const grants = scene.fleet.admin.resource(clusterAccessResource)
  const signal = AbortSignal.timeout(20_000)
  const apiVersion = 'hub.skerry.io/v1alpha1'
  const named = { apiVersion, kind: 'ClusterAccess' }
  await grants.create({ ...named, metadata: { name: 'api' }, spec }, signal)
  assert.equal((await scene.call(`${root}/shop/web:80/`, { user })).status, 403)
  const wider = { ...spec, serviceVerbs: ['get'] }
  await grants.create({ ...named, metadata: { name: 'services' }, spec: wider }, signal)
  assert.equal((await scene.call(`${root}/shop/web:80/`, { user })).status, 200)
  assert.equal((await scene.call(`${root}/shop/web:80/`, { user, method: 'POST' })).status, 403)
})

test('a right to the API does not reach the way by which services are dialled', async () => {
  const user = { commonName: 'api-only' }
  const asked = reached
  // A client sends what the hub sends to its agent.
  const headers = { connection: 'Upgrade', upgrade: 'tcp.skerry' }
  for (const method of ['GET', 'POST']) {
    const reply = await scene.call('/clusters/edge/%73ervices/shop/web/80', {
      user,
      method,
      headers,
    })
    assert.ok(reply.status >= 400, `${method} ${reply.status}`)
  }
  assert.equal(await rawConnect('/clusters/edge/services/shop/web/80'), '')
  assert.notEqual(await http2Connect(), 200)
  assert.equal(reached, asked)
})

/** Sends CONNECT over HTTP/1.1, in the form that an agent understands. Resolves with the answer's first line. */
async function rawConnect(path: string): Promise<string> {
  const { certificate: cert, key } = await scene.fleet.credentialsOf({ commonName: 'api-only' })
  const { port } = new URL(scene.fleet.url)
  const socket = connectTls({
    host: '127.0.0.1',
    port: Number(port),
    ca: scene.fleet.caPem,
    cert,
    key,
  })
  socket.write(
    `CONNECT ${path} HTTP/1.1\r\nhost: hub\r\nconnection: Upgrade\r\nupgrade: tcp.skerry\r\n\r\n`,
  )
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  return new Promise((resolve) => {
    socket.on('error', () => undefined)
    socket.once('close', () => resolve(text.split('\r\n')[0] ?? ''))
  })
}

/** Sends CONNECT over HTTP/2, where it has no path. */
async function http2Connect(): Promise<number> {
  const { certificate: cert, key } = await scene.fleet.credentialsOf({ commonName: 'api-only' })
  const session = connectHttp2(scene.fleet.url, { ca: scene.fleet.caPem, cert, key })
  const call = session.request({ ':method': 'CONNECT', ':authority': 'edge:80' })
  return new Promise((resolve) => {
    call.on('error', () => resolve(0))
    call.once('response', ({ ':status': status = 0 }) => resolve(status))
    call.once('close', () => {
      session.destroy()
      resolve(0)
    })
  })
}

test('a service leads to no node, and not to where clouds tell machines their secrets', async () => {
  const table: [name: string, address: string][] = [
    // API servers accept these in an EndpointSlice; they refuse loopback and link-local addresses themselves.
    ['cloud', '100.100.100.200'],
    ['cloud6', 'fd00:ec2::254'],
    ['node', nodeAddress],
  ]
  for (const [name, to] of table) {
    await scene.createService(name, { ports: [{ port: 80 }] })
    await scene.createEndpoints(name, [to], { port: 80 })
    assert.deepEqual(await refusal(`${root}/shop/${name}:80/`), [
      403,
      `Cannot reach service shop/${name}:80 of cluster "edge": the agent does not dial it: it leads to a node or to an address of the machine's own`,
    ])
  }
})

test('a name elsewhere is reached only where the edge allows that very service and port', async () => {
  const spec = { type: 'ExternalName', externalName: 'localhost', ports: [{ port: 80 }] }
  await scene.createService('any-port', spec)
  await scene.createService('name-by-number', spec)
  await scene.createService('named-name', spec)
  for (const name of ['any-port', 'name-by-number']) {
    const [status, text] = await refusal(`${root}/shop/${name}:80/`)
    assert.equal(status, 403)
    const flag = `--allow-service anywhere=shop/${name}:80`
    assert.ok(text.includes(`it is an ExternalName; only ${flag} leads there`), text)
  }
  // The name is allowed, but it leads to the machine itself, or to its secrets.
  const names = ['169.254.169.254', '127.1', nodeAddress]
  for (const [at, externalName] of names.entries()) {
    await scene.createService(`away-${at + 1}`, { type: 'ExternalName', externalName })
  }
  for (const name of ['named-name', 'away-1', 'away-2', 'away-3']) {
    const [exactStatus, exact] = await refusal(`${root}/shop/${name}:80/`)
    assert.equal(exactStatus, 403, `${name} ${exact}`)
    assert.match(exact, /the agent does not dial it: it leads to a node or to an address/)
  }
})

test('a path that two servers could read differently is refused', async () => {
  const paths = [
    `${root}`,
    `${root}/shop`,
    `${root}/shop/web/`,
    `${root}/shop/web:0/`,
    `${root}/shop/web:65536/`,
    `${root}/shop/web:080/`,
    `${root}/shop/ftp:web:80/`,
    `${root}/shop/..:80/`,
    `${root}/shop/web%2f..:80/`,
    `${root}/shop/web:80%00/`,
    `${root}/shop/WEB:80/`,
    `${root}/shop/web:80/../../..`,
    `${root}/shop/web:80/%2e%2E/x`,
    `${root}/shop/web:80/x%zz/..`,
    '/clusters/EDGE/services/shop/web:80/',
    '/clusters/%65dge/services/shop/web:80/',
    '/clusters/edge/%73ervices/shop/web:80/',
  ]
  for (const path of paths) {
    const [status, text] = await refusal(path)
    assert.equal(status, 400, `${path} ${text}`)
    assert.match(text, /^Cannot pass request to a service: bad path/, path)
  }
  assert.equal((await scene.call('/clusters/none/services/shop/web:80/')).status, 403)
})

test('an edge that is away is reported as such, and so is a service without pods', async () => {
  await scene.createService('empty', { selector: { app: 'empty' }, ports: [{ port: 80 }] })
  assert.deepEqual(await refusal(`${root}/shop/empty:80/`), [
    503,
    'Cannot reach service shop/empty:80 of cluster "edge": it has no ready endpoints',
  ])
  const back = scene.agent.connected()
  const away = scene.way.hold()
  scene.fleet.hub.connections.own.closeIdentity('edge', 'a digger found the cable')
  const [status, text] = await refusal(`${root}/shop/web:80/`)
  assert.equal(status, 503)
  assert.match(text, /^Cannot reach cluster "edge": a digger found the cable/)
  away[Symbol.dispose]()
  await back
})

test('a request whose lines contradict each other is refused as the mistake of its sender', async () => {
  let asked = 0
  const count = (_request: unknown, response: { end(): void }): void => {
    asked += 1
    response.end()
  }
  const twice = createServer(count)
  await scene.serve('twice', twice)
  await scene.serve('twice-h2', createHttp2Server(count), { appProtocol: 'kubernetes.io/h2c' })
  const types = { 'content-type': ['text/plain', 'application/grpc'] }
  const agents = { 'user-agent': ['a', 'b'] }
  const why = 'Cannot pass request to a service: '
  const table: readonly (readonly [
    name: string,
    headers: Record<string, string[]>,
    text: RegExp,
  ])[] = [
    ['twice', types, new RegExp(`^${why}it has two content types$`)],
    ['twice-h2', types, new RegExp(`^${why}it has two content types$`)],
    [
      'twice-h2',
      agents,
      new RegExp(`^${why}Header field "user-agent" must only have a single value$`),
    ],
  ]
  for (const [name, headers, text] of table) {
    const [status, told] = await refusal(`${root}/shop/${name}:80/`, { method: 'POST', headers })
    assert.deepEqual([status, text.test(told)], [400, true], told)
  }
  assert.equal(asked, 0)
  assert.equal((await scene.call(`${root}/shop/twice-h2:80/`)).status, 200)
})
