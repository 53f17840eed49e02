import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import type { Duplex } from 'node:stream'
import { test } from 'node:test'
import { resources } from '@skerry/client'
import { clusterAccessResource, clusterResource } from '@skerry/fleet-kinds'
import { until } from '@skerry/testing'
import { createUserToken, removeUserTokens } from '../admin/user-tokens.ts'
import { auditedLines } from '../../testing/scenes/audited-lines.ts'
import {
  registerCluster,
  startTestAgent,
  startTestHub,
  untilCluster,
  type TestHub,
} from '../../testing/scenes/test-fleet.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const rbac = 'rbac.authorization.k8s.io'
const watchPath = '/clusters/edge/api/v1/pods?watch=1&resourceVersion=1'
const execPath = '/clusters/edge/api/v1/namespaces/a/pods/b/exec'

/** Starts an API server whose watches last, and whose sessions echo their input. */
async function startLasting() {
  const watches = new Set<ServerResponse>()
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    if (!request.url?.includes('watch=1')) return void response.end('{}')
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    watches.add(response)
    response.on('close', () => watches.delete(response))
  })
  server.on('upgrade', (_request, socket: Duplex) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: tcp\r\n\r\n')
    socket.on('error', () => undefined)
    socket.pipe(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    /** An event to every open watch. */
    tell(name: string): void {
      const object = { kind: 'Pod', metadata: { name, resourceVersion: '5' } }
      for (const each of watches) each.write(`${JSON.stringify({ type: 'ADDED', object })}\n`)
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function startFleet() {
  await using stack = new AsyncDisposableStack()
  const edge = stack.use(await startLasting())
  const fleet = stack.use(await startTestHub({ accessCheckMs: 50 }))
  await registerCluster(fleet, 'edge', { region: 'north' })
  const agent = stack.use(await startTestAgent(fleet, { name: 'edge', api: { server: edge.url } }))
  await untilCluster(fleet, 'edge', ({ Connected }) => Connected === 'True')
  const owned = stack.move()
  return { edge, fleet, agent, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

async function tokenFor(fleet: TestHub, name: string): Promise<string> {
  const user = { name, groups: [], ttlMs: undefined }
  return (await createUserToken(fleet.admin, user, Date.now(), soon())).token
}

/** Allows by RBAC a watch of the cluster and sessions in it, and the hub's own list of clusters. */
async function bind(fleet: TestHub, user: string): Promise<void> {
  const apiVersion = `${rbac}/v1`
  const metadata = { name: `may-${user}` }
  const apiGroups = ['cluster.karmada.io']
  const rules = [
    { apiGroups, resources: ['clusters/proxy', 'clusters'], verbs: ['get', 'watch', 'create'] },
  ]
  await fleet.admin
    .resource(resources.clusterRoles)
    .create({ apiVersion, kind: 'ClusterRole', metadata, rules }, soon())
  await fleet.admin.resource(resources.clusterRoleBindings).create(
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: metadata.name },
      subjects: [{ apiGroup: rbac, kind: 'User', name: user }],
    },
    soon(),
  )
}

function optionsFor(fleet: TestHub, path: string, headers: Record<string, string>): RequestOptions {
  const { port } = new URL(fleet.url)
  return { host: '127.0.0.1', port, path, ca: fleet.caPem, agent: false, headers }
}

/** Resolves when the answer has begun; `ended` resolves when it is over, with whether it came to its end. */
async function openWatch(fleet: TestHub, path: string, token: string) {
  const request = httpsRequest(optionsFor(fleet, path, { authorization: `Bearer ${token}` })).end()
  const [answer] = (await once(request, 'response', { signal: soon() })) as [IncomingMessage]
  assert.equal(answer.statusCode, 200)
  let text = ''
  answer.on('data', (chunk: Buffer) => (text += chunk.toString()))
  answer.on('error', () => undefined)
  const ended = new Promise((resolve) => answer.once('close', () => resolve(answer.complete)))
  return {
    ended,
    text: () => text,
    [Symbol.dispose]: () => void request.destroy(),
  }
}

async function openSession(fleet: TestHub, token: string) {
  const headers = { authorization: `Bearer ${token}`, connection: 'Upgrade', upgrade: 'tcp' }
  const options = { ...optionsFor(fleet, execPath, headers), method: 'POST' }
  const request = httpsRequest(options).end()
  const [, socket] = (await once(request, 'upgrade', { signal: soon() })) as [unknown, Duplex]
  socket.on('error', () => undefined)
  socket.resume()
  const ended = new Promise((resolve) => socket.once('close', resolve))
  return { ended, socket, [Symbol.dispose]: () => void socket.destroy() }
}

test('open connections end soon after the token behind them is removed; those of others go on', async () => {
  await using all = await startFleet()
  const { edge, fleet } = all
  for (const name of ['olga', 'rita']) await bind(fleet, name)
  const [olga, rita] = [await tokenFor(fleet, 'olga'), await tokenFor(fleet, 'rita')]
  using watch = await openWatch(fleet, watchPath, olga)
  using ownWatch = await openWatch(
    fleet,
    '/apis/cluster.karmada.io/v1alpha1/clusters?watch=1',
    olga,
  )
  using session = await openSession(fleet, olga)
  using other = await openWatch(fleet, watchPath, rita)
  using otherSession = await openSession(fleet, rita)
  await removeUserTokens(fleet.admin, { name: 'olga', tokenId: undefined }, soon())
  // A watch may end at any time: it ends properly, and its client is refused when it returns.
  assert.equal(await watch.ended, true)
  assert.equal(await ownWatch.ended, true)
  await session.ended
  edge.tell('later')
  await until(() => other.text().includes('later'), soon())
  assert.equal(watch.text(), '')
  otherSession.socket.write('still here')
  const [echo] = await once(otherSession.socket, 'data', { signal: soon() })
  assert.equal(String(echo), 'still here')
  const lines = await until(async () => {
    const all = await auditedLines(fleet)
    const ended = all.filter((line) => line.includes('the right to it has ended'))
    return ended.length >= 2 && ended
  }, soon())
  assert.ok(lines.every((line) => JSON.parse(line).user === 'olga'))
})

test('open connections end soon after the right to them is taken away, by RBAC or by a label', async () => {
  await using all = await startFleet()
  const { fleet } = all
  const token = await tokenFor(fleet, 'olga')
  await bind(fleet, 'olga')
  {
    using watch = await openWatch(fleet, watchPath, token)
    using session = await openSession(fleet, token)
    const binding = { name: 'may-olga' }
    await fleet.admin.resource(resources.clusterRoleBindings).delete(binding, soon())
    assert.equal(await watch.ended, true)
    await session.ended
  }
  await fleet.admin.resource(clusterAccessResource).create(
    {
      apiVersion: 'hub.skerry.io/v1alpha1',
      kind: 'ClusterAccess',
      metadata: { name: 'north' },
      spec: {
        subjects: [{ kind: 'User', name: 'olga', apiGroup: rbac }],
        clusterSelector: { matchLabels: { region: 'north' } },
        verbs: ['watch'],
      },
    },
    soon(),
  )
  using watch = await openWatch(fleet, watchPath, token)
  const patch = { metadata: { labels: { region: 'south' } } }
  await fleet.admin.resource(clusterResource).patch({ name: 'edge', type: 'merge', patch }, soon())
  assert.equal(await watch.ended, true)
})
