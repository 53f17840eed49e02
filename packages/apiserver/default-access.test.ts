import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import net, { type AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import type { Pod, ServiceAccount, TokenRequest } from '@skerry/api'
import { silentLogger, systemClock, systemRandom } from '@skerry/base'
import {
  createCluster,
  createHttpsTransport,
  fixedCredentials,
  resources,
  type Transport,
} from '@skerry/client'
import { generateKeyPair } from '@skerry/pki'
import { startTestApiServer } from '@skerry/testing'
import { ensureBootstrapObjects } from './bootstrap-policy/bootstrap-objects.ts'
import { createDefaultAccess } from './default-access.ts'
import type { BackendDial } from './subresources/backend/backend-dial.ts'

const signal = new AbortController().signal
const deps = { clock: systemClock, random: systemRandom, log: silentLogger }
const issuer = 'https://kubernetes.default.svc.cluster.local'

/** Starts the real server with all default authorizers, and a namespace with its account. */
async function startServer(dial?: BackendDial) {
  const { privateKeyPem } = await generateKeyPair()
  const serviceAccounts = { issuer, signingKeyPem: privateKeyPem }
  const test = await startTestApiServer({
    access: createDefaultAccess({ serviceAccounts, ...(dial ? { dial } : {}) }, deps),
    namespaces: [],
  })
  await ensureBootstrapObjects(test.objects)
  const cluster = (transport: Transport) =>
    createCluster(transport, { ...deps, userAgent: 'skerry/test' })
  const admin = cluster(test.transport)
  const as = (name: string, ...groups: string[]) =>
    cluster(test.transportAs({ name, groups: [...groups, 'system:authenticated'], extra: {} }))
  await admin.resource(resources.serviceAccounts).create(account('default', 'default'), signal)
  return { test, admin, as, [Symbol.asyncDispose]: () => test[Symbol.asyncDispose]() }
}

const account = (name: string, namespace: string): ServiceAccount => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name, namespace },
})
const pod = (name: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: { containers: [{ name: 'app', image: 'app' }] },
})

test('a pod is admitted with its account, bound once, and only its node may report its status', async () => {
  await using server = await startServer()
  const { admin, as } = server
  const pods = admin.resource(resources.pods)
  const created = await pods.create(pod('web'), signal)
  assert.equal(created.spec?.serviceAccountName, 'default')
  assert.equal(created.spec.priority, 0)
  assert.match(created.spec.volumes?.[0]?.name ?? '', /^kube-api-access-/)

  const key = { namespace: 'default', name: 'web' }
  const scheduler = as('system:kube-scheduler').resource(resources.pods)
  const binding = {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: key,
    target: { kind: 'Node', name: 'n1' },
  }
  await scheduler.createSubresource({ ...key, subresource: 'binding', body: binding }, signal)
  const bound = await pods.get(key, signal)
  assert.equal(bound.spec?.nodeName, 'n1')
  assert.equal(bound.status?.conditions?.[0]?.type, 'PodScheduled')
  await assert.rejects(
    scheduler.createSubresource({ ...key, subresource: 'binding', body: binding }, signal),
    { code: 409 },
  )

  const node = as('system:node:n1', 'system:nodes').resource(resources.pods)
  const stranger = as('system:node:n2', 'system:nodes').resource(resources.pods)
  assert.equal((await node.get(key, signal)).metadata.name, 'web')
  await assert.rejects(stranger.get(key, signal), {
    code: 403,
    message:
      'pods "web" is forbidden: User "system:node:n2" cannot get resource "pods" in API group "" in the namespace "default": no relationship found between node \'n2\' and this object',
  })
})

test('a service account token works while its pod lives and its roles allow', async () => {
  await using server = await startServer()
  const { admin, test: server_ } = server
  await admin.resource(resources.pods).create(pod('web'), signal)
  const key = { namespace: 'default', name: 'default' }
  const request = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: {},
    spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'web' } },
  }
  const answer = await admin
    .resource(resources.serviceAccounts)
    .createSubresource({ ...key, subresource: 'token', body: request }, signal)
  const { status } = answer as unknown as TokenRequest
  const get = async (path: string): Promise<number> => {
    using transport = createHttpsTransport(
      {
        server: server_.url,
        certificateAuthority: server_.credentials.ca,
        credentials: fixedCredentials({ bearerToken: status?.token ?? '' }),
      },
      { clock: systemClock },
    )
    const { status: code, body } = await transport.send(
      { method: 'GET', path, headers: {} },
      signal,
    )
    for await (const _chunk of body);
    return code
  }
  assert.equal(await get('/api'), 200)
  assert.equal(await get('/api/v1/namespaces/default/pods'), 403)
  await admin
    .resource(resources.pods)
    .delete({ namespace: 'default', name: 'web', gracePeriodSeconds: 0 }, signal)
  assert.equal(await get('/api'), 401)
})

test('a missing object, a forbidden request and one beyond its rights are refused as in upstream', async () => {
  await using server = await startServer()
  const { admin, as } = server
  await assert.rejects(as('jane').resource(resources.pods).list({ namespace: 'default' }, signal), {
    code: 403,
    message:
      'pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "default"',
  })
  const elsewhere = { ...pod('web'), metadata: { name: 'web', namespace: 'gone' } }
  await assert.rejects(admin.resource(resources.pods).create(elsewhere, signal), {
    code: 404,
    message: 'namespaces "gone" not found',
  })
  await assert.rejects(
    admin.resource(resources.namespaces).delete({ name: 'kube-system' }, signal),
    {
      code: 403,
      message: 'namespaces "kube-system" is forbidden: this namespace may not be deleted',
    },
  )
})

test('an eviction spends the budget and deletes the pod with its grace period', async () => {
  await using server = await startServer()
  const { admin } = server
  const pods = admin.resource(resources.pods)
  await pods.create(pod('web'), signal)
  const key = { namespace: 'default', name: 'web' }
  const eviction = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: key,
    deleteOptions: { gracePeriodSeconds: 0 },
  }
  await pods.createSubresource({ ...key, subresource: 'eviction', body: eviction }, signal)
  await assert.rejects(pods.get(key, signal), { code: 404 })
})

/**
 * Starts a server in place of a node's kubelet: a log in two pieces, and a session that answers
 * when the client has finished.
 */
async function startKubelet() {
  const server = http.createServer((_request, response) => {
    response.write('one\n')
    response.end('two\n')
  })
  server.on('upgrade', (_request, socket: Duplex, head: Buffer) => {
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: SPDY/3.1\r\nconnection: Upgrade\r\n\r\n',
    )
    let said = head.toString()
    socket.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
    socket.on('end', () => socket.end(`heard ${said}`))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const dial: BackendDial = {
    dialNode: async () => net.connect({ port, host: '127.0.0.1', allowHalfOpen: true }),
    dialAddress: async () => Promise.reject(new Error('no pod network here')),
  }
  return {
    dial,
    [Symbol.dispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}

test('logs and sessions pass through the server that a client talks to', async () => {
  using kubelet = await startKubelet()
  await using server = await startServer(kubelet.dial)
  const { admin, test: test_ } = server
  await admin.resource(resources.nodes).create(
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n1' },
      status: { addresses: [{ type: 'InternalIP', address: '127.0.0.1' }] },
    },
    signal,
  )
  const running = pod('web')
  await admin
    .resource(resources.pods)
    .create(
      { ...running, spec: { containers: running.spec?.containers ?? [], nodeName: 'n1' } },
      signal,
    )
  const { ca, cert, key } = test_.credentials
  const path = '/api/v1/namespaces/default/pods/web'
  const log = await test_.transport.send(
    { method: 'GET', path: `${path}/log`, headers: {} },
    signal,
  )
  assert.equal(await text(log.body), 'one\ntwo\n')

  const request = https.request(`${test_.url}${path}/exec?command=cat&stdin=true&stdout=true`, {
    method: 'POST',
    ca,
    cert,
    key,
    headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1' },
  })
  request.end()
  const [response, socket] = (await once(request, 'upgrade')) as [http.IncomingMessage, Duplex]
  assert.equal(response.statusCode, 101)
  socket.write('hello')
  socket.end(' there')
  assert.equal(await text(socket), 'heard hello there')
})
