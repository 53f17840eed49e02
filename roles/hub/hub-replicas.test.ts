import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect as connectTcp } from 'node:net'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import type { ConfigMap } from '@skerry/api'
import { exitCodes, silentLogger, systemClock, type ExpectedError } from '@skerry/base'
import {
  createCluster,
  createHttpsTransport,
  fixedCredentials,
  resources,
  type ClusterClient,
} from '@skerry/client'
import { clusterResource } from '@skerry/fleet-kinds'
import { clusterStatesPath, tunnelPrefix, type ClusterStates } from '@skerry/gateway'
import { revokeAgent } from '@skerry/membership'
import { startTestEtcd, whyNoEtcd, until } from '@skerry/testing'
import { writeAdminKubeconfig } from '../control-plane/admin-kubeconfig.ts'
import { rotateEncryption } from '../client/site/rotate-encryption.ts'
import {
  registerCluster,
  startTestAgent,
  startTestEdge,
  startTestHub,
  untilCluster,
  type TestHub,
} from '../../testing/scenes/test-fleet.ts'
import { etcdFlags, spawnReplica, startBalancer } from '../../testing/scenes/test-replicas.ts'
import { replicaKeyPath } from '../control-plane/shared-keys.ts'

const skip = await whyNoEtcd()
const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const operator = { commonName: 'olga', organizations: ['system:masters', 'operators'] }
const deps = { clock: systemClock, log: silentLogger, userAgent: 'test' }
const isOpen = ({ Ready, Connected }: Readonly<Record<string, string>>): boolean =>
  Ready === 'True' && Connected === 'True'

/** Two replicas in this process, the second with the key of the first. */
async function startReplicas() {
  await using stack = new AsyncDisposableStack()
  const etcd = stack.use(await startTestEtcd())
  const first = stack.use(await startTestHub({ etcd: etcdFlags(etcd) }))
  const replicaKeyFile = replicaKeyPath(first.directory)
  const second = stack.use(await startTestHub({ etcd: etcdFlags(etcd), replicaKeyFile }))
  const owned = stack.move()
  return { etcd, first, second, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

async function clusterAt(fleet: TestHub, url: string, path: string) {
  const transport = createHttpsTransport(
    {
      server: `${url}${path}`,
      certificateAuthority: fleet.caPem,
      credentials: fixedCredentials(await fleet.credentialsOf(operator)),
    },
    { clock: systemClock },
  )
  const cluster = createCluster(transport, deps)
  return { cluster, [Symbol.dispose]: () => transport[Symbol.dispose]() }
}

async function statusOf(fleet: TestHub, url: string, path: string, method = 'GET') {
  const { certificate: cert, key } = await fleet.credentialsOf(operator)
  const target = new URL(path, url)
  return new Promise<{ status: number; text: string; headers: Record<string, unknown> }>(
    (resolve, reject) => {
      httpsRequest(target, { method, ca: fleet.caPem, cert, key, agent: false }, (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => (text += chunk))
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text, headers: response.headers }),
        )
      })
        .on('error', reject)
        .end()
    },
  )
}

const configMap = (name: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
})

/** Waits until a cluster's tunnel is known at a replica where it does not end. */
async function untilReachable(fleet: TestHub, url: string, name: string): Promise<void> {
  const path = `/clusters/${name}/version`
  await until(async () => (await statusOf(fleet, url, path)).status === 200, soon())
}

test('any replica reaches a cluster, wherever its tunnel ends', { skip }, async () => {
  await using edge = await startTestEdge()
  await using hubs = await startReplicas()
  const { first, second } = hubs
  await using _agent = await startTestAgent(first, { name: 'edge', api: edge.api })
  await untilCluster(second, 'edge', isOpen)
  await untilReachable(second, second.url, 'edge')
  using through = await clusterAt(first, second.url, '/clusters/edge')
  const configMaps = through.cluster.resource(resources.configMaps)
  const stop = new AbortController()
  const seen: string[] = []
  const watching = (async () => {
    for await (const event of configMaps.watch({ namespace: 'default' }, stop.signal)) {
      if (event.type === 'BOOKMARK') continue
      seen.push(`${event.type} ${event.object.metadata.name}`)
      if (seen.length === 2) return
    }
  })()
  await configMaps.create({ ...configMap('far'), data: { text: 'x'.repeat(500_000) } }, soon())
  await configMaps.delete({ namespace: 'default', name: 'far' }, soon())
  await watching
  assert.deepEqual(seen, ['ADDED far', 'DELETED far'])
  const review = await through.cluster.raw(
    {
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from('{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}'),
    },
    soon(),
  )
  let text = ''
  for await (const piece of review.body) text += Buffer.from(piece).toString()
  // The edge sees the person, as it does without a second replica between.
  assert.match(text, /"username":"olga"/)
  assert.match(text, /"groups":\["system:masters","operators","system:authenticated"\]/)
  for (const { url } of [first, second]) {
    const report = JSON.parse((await statusOf(first, url, `${tunnelPrefix}edge`)).text)
    assert.deepEqual([report.isConnected, report.tunnels.length], [true, 1])
  }
  await sameStates(hubs)
})

/** Checks that both replicas report the same states: who connects each cluster, and how much passed. */
async function sameStates({ first, second }: { first: TestHub; second: TestHub }): Promise<void> {
  const [here, there] = await Promise.all(
    [first, second].map(async ({ url }) => {
      const { text } = await statusOf(first, url, clusterStatesPath)
      const { clusters }: ClusterStates = JSON.parse(text)
      return clusters.map(({ name, tunnel, since, agents, bytesIn }) => {
        assert.ok(bytesIn > 500_000, `${url} has no bytes of it`)
        return [name, tunnel, since, agents.map(({ agent, openedAt }) => [agent, openedAt])]
      })
    }),
  )
  assert.equal(here?.length, 1)
  assert.deepEqual(here, there)
}

/** Starts an API server that accepts each upgrade and echoes its input. */
async function startUpgrading() {
  const server = createServer()
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const user = String(request.headers['impersonate-user'])
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: SPDY/3.1\r\n\r\n',
    )
    const chunks = [head]
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('end', () => socket.end(`${user} says ${Buffer.concat(chunks).toString()}`))
  })
  server.on('request', (_request, response) => void response.end('{}'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return {
    server: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

test('an upgrade passes through another replica, each half on its own', { skip }, async () => {
  await using api = await startUpgrading()
  await using hubs = await startReplicas()
  const { first, second } = hubs
  await registerCluster(first, 'edge')
  await using _agent = await startTestAgent(first, { name: 'edge', api: { server: api.server } })
  await untilReachable(second, second.url, 'edge')
  const { certificate: cert, key } = await first.credentialsOf(operator)
  const port = Number(new URL(second.url).port)
  const tcp = connectTcp({ host: '127.0.0.1', port, allowHalfOpen: true })
  const socket = connectTls({ socket: tcp, host: '127.0.0.1', ca: first.caPem, cert, key })
  const path = '/clusters/edge/api/v1/namespaces/a/pods/b/exec'
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: hub\r\nconnection: Upgrade\r\nupgrade: SPDY/3.1\r\n\r\n`,
  )
  socket.end('ahoy')
  let text = ''
  for await (const chunk of socket) text += Buffer.from(chunk).toString()
  assert.match(text, /^HTTP\/1\.1 101 Switching Protocols\r\n/)
  assert.ok(text.endsWith('\r\n\r\nolga says ahoy'), text)
})

test('a tunnel that ends is known at every replica, and so is a revocation', { skip }, async () => {
  await using edge = await startTestEdge()
  await using hubs = await startReplicas()
  const { first, second } = hubs
  await using _agent = await startTestAgent(first, { name: 'edge', api: edge.api })
  await untilCluster(second, 'edge', isOpen)
  await untilReachable(second, second.url, 'edge')
  await revokeAgent(second.admin, { cluster: 'edge', nowMs: Date.now() }, soon())
  await untilCluster(first, 'edge', ({ Connected }) => Connected === 'False')
  await untilCluster(second, 'edge', ({ Connected }) => Connected === 'False')
  assert.deepEqual(first.hub.connections.own.sessions('edge'), [])
  const away = await statusOf(second, second.url, '/clusters/edge/version')
  assert.equal(away.status, 503)
  assert.equal(away.headers['retry-after'], '2')
  // A replica without the tunnel also knows why it ended.
  assert.match(away.text, /the agent was revoked, not connected since 20/)
})

test(
  'a replica needs the key of the others, and gets everything else from them',
  { skip },
  async () => {
    await using hubs = await startReplicas()
    const { first, second, etcd } = hubs
    assert.equal(second.caPem, first.caPem)
    const refused = (text: RegExp) => (error: ExpectedError) =>
      error.exitCode === exitCodes.dataDirectory && text.test(error.message)
    await assert.rejects(
      startTestHub({ etcd: etcdFlags(etcd) }),
      refused(/replica\.key is missing; copy that file from one of them/),
    )
    const replicaKeyFile = join(first.directory, 'other.key')
    await writeFile(replicaKeyFile, Buffer.alloc(32, 1).toString('base64url'), { mode: 0o600 })
    await assert.rejects(
      startTestHub({ etcd: etcdFlags(etcd), replicaKeyFile }),
      refused(/other\.key does not open the keys in etcd/),
    )
    const path = join(first.directory, 'admin.kubeconfig')
    await writeAdminKubeconfig(first.hub.plane.pki, { path, name: 'hub', server: first.url })
    await assert.rejects(
      rotateEncryption(first.directory, () => undefined, soon()),
      /other replicas have the same key/,
    )
    // One replica writes it, encrypted, and the other reads it.
    const secrets = { group: '', resource: 'secrets' }
    await first.hub.plane.objects.create(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'a', namespace: 'default' },
      data: { password: 'dHIwdWI0ZG9y' },
    })
    const { entry } = await first.hub.plane.store.get('/registry/core/secrets/default/a')
    assert.ok(entry && !Buffer.from(entry.value).includes('dHIwdWI0ZG9y'))
    const read = await second.admin
      .resource(resources.secrets)
      .get({ namespace: 'default', name: 'a' }, soon())
    assert.equal(read.data?.['password'], 'dHIwdWI0ZG9y')
  },
)

test('only a replica may open a link, and with its own certificate', { skip }, async () => {
  await using hubs = await startReplicas()
  const { first } = hubs
  const ids = await replicaIds(first)
  const replicas = ['0123456789abcdef', ...ids].map((id) => ({
    commonName: `system:hub-replica:${id}`,
    organizations: ['system:hub-replicas'],
  }))
  for (const id of ['0123456789abcdef', ...ids]) {
    for (const who of [{ commonName: 'rita' }, operator, ...replicas]) {
      const status = await upgradeStatus(first, `/tunnel/v1/replicas/${id}`, who)
      assert.equal(status, 403, `${who.commonName} at ${id}`)
    }
  }
})

/** The ids of both replicas, once both are in the directory. */
async function replicaIds({ hub }: TestHub): Promise<string[]> {
  const members = await until(async () => {
    const { entries } = await hub.plane.store.list({ prefix: '/replicas/members/' })
    return entries.length === 2 && entries
  }, soon())
  return members.map(({ key }) => key.split('/').at(-1) ?? '')
}

async function upgradeStatus(
  fleet: TestHub,
  path: string,
  subject: { commonName: string; organizations?: readonly string[] },
): Promise<number> {
  const { commonName, organizations = [] } = subject
  const { certificate: cert, key } = await fleet.credentialsOf({ commonName, organizations })
  return new Promise((resolve, reject) => {
    const headers = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'c2tlcnJ5IHNrZXJyeSBza2U=',
      'sec-websocket-protocol': 'v1.tunnel.skerry.dev',
    }
    const target = new URL(path, fleet.url)
    const request = httpsRequest(target, { headers, ca: fleet.caPem, cert, key, agent: false })
    request.on('response', (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
    request.on('upgrade', (_answer, socket) => {
      socket.destroy()
      resolve(101)
    })
    request.on('error', reject)
    request.end()
  })
}

test('a replica may be killed: requests go on at once, and a watch resumes', { skip }, async () => {
  await using edge = await startTestEdge()
  await using hubs = await startReplicas()
  const { etcd, first: fleet, second } = hubs
  await using other = await spawnReplica(etcd, replicaKeyPath(fleet.directory))
  const at = (hub: string, directory: string) =>
    startTestAgent(fleet, { name: 'edge', api: edge.api, hub, directory })
  await using _far = await at(other.url, join(fleet.directory, 'far'))
  await untilCluster(fleet, 'edge', isOpen)
  await untilReachable(fleet, fleet.url, 'edge')
  using through = await clusterAt(fleet, fleet.url, '/clusters/edge')
  using doomed = await clusterAt(fleet, other.url, '')
  // One watch passes through the replica that dies, the other ends there.
  const [goesOn, resumed] = [
    await watchMaps(through.cluster, through.cluster),
    await watchMaps(doomed.cluster, fleet.admin, { firstBreaks: true }),
  ]
  const maps = [through.cluster, fleet.admin].map((each) => each.resource(resources.configMaps))
  for (const each of maps) await each.create(configMap('before'), soon())
  await Promise.all([goesOn, resumed].map((each) => Promise.race([each.firstSeen, each.seen])))
  await using _near = await at(second.url, join(fleet.directory, 'near'))
  await untilTunnels(fleet, 'edge', 2)
  await other.kill()
  const statuses = await Promise.all(
    Array.from({ length: 10 }, () => statusOf(fleet, fleet.url, '/clusters/edge/version')),
  )
  assert.deepEqual(
    statuses.map(({ status }) => status),
    Array.from({ length: 10 }, () => 200),
  )
  for (const each of maps) await each.create(configMap('after'), soon())
  assert.deepEqual(await goesOn.seen, ['before', 'after'])
  assert.deepEqual(await resumed.seen, ['before', 'after'])
})

/** Waits until a replica knows this many tunnels of a cluster, wherever they end. */
async function untilTunnels(fleet: TestHub, name: string, count: number): Promise<void> {
  for (const signal = soon(); ; signal.throwIfAborted()) {
    const { text } = await statusOf(fleet, fleet.url, `${tunnelPrefix}${name}`)
    if (JSON.parse(text).tunnels.length === count) return
  }
}

test(
  'an agent with one tunnel dials another replica, and requests wait for it',
  { skip },
  async () => {
    await using edge = await startTestEdge()
    await using etcd = await startTestEtcd()
    await using fleet = await startTestHub({ etcd: etcdFlags(etcd) })
    await using other = await spawnReplica(etcd, replicaKeyPath(fleet.directory))
    const target = { urls: [other.url] }
    await using balancer = await startBalancer(target)
    await using _agent = await startTestAgent(fleet, {
      name: 'edge',
      api: edge.api,
      hub: balancer.url,
    })
    await untilReachable(fleet, fleet.url, 'edge')
    assert.deepEqual(fleet.hub.connections.own.sessions('edge'), [])
    target.urls = [fleet.url]
    await other.kill()
    const answer = await statusOf(fleet, fleet.url, '/clusters/edge/version')
    assert.equal(answer.status, 200, answer.text)
    assert.equal(fleet.hub.connections.own.sessions('edge').length, 1)
  },
)

/** Watches at `then`; with `firstBreaks`, first at `first`, and then from the last seen version. */
async function watchMaps(first: ClusterClient, then: ClusterClient, { firstBreaks = false } = {}) {
  const begun = Promise.withResolvers<void>()
  const { metadata } = await then
    .resource(resources.configMaps)
    .list({ namespace: 'default' }, soon())
  let { resourceVersion = '' } = metadata
  const seen: string[] = []
  const watch = async (cluster: ClusterClient): Promise<void> => {
    const request = { namespace: 'default', resourceVersion }
    for await (const event of cluster.resource(resources.configMaps).watch(request, soon())) {
      if (event.type === 'BOOKMARK') continue
      resourceVersion = event.object.metadata.resourceVersion ?? resourceVersion
      if (event.object.metadata.name === 'kube-root-ca.crt') continue
      seen.push(event.object.metadata.name ?? '')
      begun.resolve()
      if (seen.length === 2) return
    }
  }
  const run = async (): Promise<string[]> => {
    if (firstBreaks) await assert.rejects(watch(first))
    await watch(then)
    return seen
  }
  return { firstSeen: begun.promise, seen: run() }
}

test('a cluster with two agents is reached while one of them is away', { skip }, async () => {
  await using edge = await startTestEdge()
  await using hubs = await startReplicas()
  const { first, second } = hubs
  await using _near = await startTestAgent(first, { name: 'edge', api: edge.api })
  await untilCluster(first, 'edge', isOpen)
  const directory = join(first.directory, 'another')
  {
    const options = { name: 'edge', api: edge.api, hub: second.url, directory }
    await using agent = await startTestAgent(first, options)
    await agent.connected()
  }
  for (const { url } of [first, second]) {
    assert.equal((await statusOf(first, url, '/clusters/edge/version')).status, 200)
  }
  const clusters = await second.admin.resource(clusterResource).list({}, soon())
  assert.deepEqual(
    clusters.items.map(({ metadata }) => metadata.name),
    ['edge'],
  )
})
