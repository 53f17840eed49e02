import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { WebSocket } from 'ws'
import { readBody } from '@skerry/client'
import { agentsGroup, agentUserName, clusterResource } from '@skerry/fleet-kinds'
import { tunnelPrefix } from '@skerry/gateway'
import { until } from '@skerry/testing'
import { auditedLines, untilAudited, type AuditedLine } from '../../testing/scenes/audited-lines.ts'
import {
  registerCluster,
  startTestAgent,
  startTestHub,
  type TestHub,
} from '../../testing/scenes/test-fleet.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)
const masters = ['system:masters']
/** A megabyte for each kilobyte of it. */
const bomb = gzipSync(Buffer.alloc(20_000_000))

/** Stands in for an API server: watches begin and stay silent; every other answer is a bomb. */
async function startFleet() {
  await using stack = new AsyncDisposableStack()
  const edge = createServer((request, response: ServerResponse) => {
    if (request.url?.includes('watch=')) return response.flushHeaders()
    response.setHeader('content-encoding', 'gzip')
    response.end(bomb)
  })
  edge.listen(0, '127.0.0.1')
  await once(edge, 'listening')
  stack.defer(async () => {
    edge.closeAllConnections()
    edge.close()
    await once(edge, 'close')
  })
  const fleet = stack.use(await startTestHub())
  const cluster = {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name: 'edge' },
    spec: { syncMode: 'Pull' },
  } as const
  await fleet.admin.resource(clusterResource).create(cluster, soon())
  // A listening TCP server has an address of this shape.
  const { port } = edge.address() as AddressInfo
  const api = { server: `http://127.0.0.1:${port}` }
  const agent = stack.use(await startTestAgent(fleet, { name: 'edge', api }))
  await agent.connected()
  const owned = stack.move()
  return { fleet, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

test('a body compressed at the edge passes as it is', async () => {
  await using all = await startFleet()
  using transport = await all.fleet.as({ commonName: 'olga', organizations: masters })
  const headers = { 'accept-encoding': 'gzip' }
  const request = { method: 'GET', path: '/clusters/edge/version', headers } as const
  const { headers: answered, body } = await transport.send(request, soon())
  assert.equal(answered['content-encoding'], 'gzip')
  assert.ok((await readBody(body)).equals(bomb))
})

test('a compressed body is not opened by the hub', async () => {
  await using all = await startFleet()
  using transport = await all.fleet.as({ commonName: 'olga', organizations: masters })
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
  const path = '/apis/cluster.karmada.io/v1alpha1/clusters'
  // The document is a Cluster with much white space when decompressed.
  const cluster = { apiVersion: 'cluster.karmada.io/v1alpha1', kind: 'Cluster' }
  const opened = { ...cluster, metadata: { name: 'opened' }, spec: { syncMode: 'Pull' } }
  const body = gzipSync(JSON.stringify(opened).padEnd(1_000_000))
  const request = { method: 'POST', path, headers, body } as const
  const answer = await transport.send(request, soon())
  const text = String(await readBody(answer.body))
  assert.ok(answer.status === 400 || answer.status === 415, `${answer.status} ${text}`)
  const isWanted = (line: AuditedLine): boolean => line.uri === path && line.user === 'olga'
  const [line] = await untilAudited(all.fleet, { count: 1, isWanted }, soon())
  assert.equal(line?.status, answer.status)
})

async function sessionOf(fleet: TestHub, commonName: string): Promise<ClientHttp2Session> {
  const subject = { commonName, organizations: masters }
  const { certificate: cert, key } = await fleet.credentialsOf(subject)
  const session = connectHttp2(fleet.url, { ca: fleet.caPem, cert, key })
  await once(session, 'connect')
  return session
}

function statusOf(session: ClientHttp2Session, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': path })
    stream.once('response', (headers) => resolve(Number(headers[':status'])))
    stream.once('error', reject)
    stream.resume()
  })
}

test('a user who opens ever more watches of a cluster leaves half of its tunnel to others', async () => {
  await using all = await startFleet()
  const { fleet } = all
  const path = '/clusters/edge/api/v1/pods?watch=1'
  const statuses: number[] = []
  const sessions: ClientHttp2Session[] = []
  for (let number = 0; number < 3; number += 1) {
    const session = await sessionOf(fleet, 'mallory')
    sessions.push(session)
    const asked = Array.from({ length: 200 }, () => statusOf(session, path))
    statuses.push(...(await Promise.all(asked)))
  }
  const count = (wanted: number): number => statuses.filter((status) => status === wanted).length
  assert.deepEqual([count(200), count(429)], [500, 100])
  const other = await sessionOf(fleet, 'olga')
  sessions.push(other)
  assert.equal(await statusOf(other, path), 200)
  for (const session of sessions) session.destroy()
})

const brokenRules: [what: string, sent: string | Buffer, cut: RegExp][] = [
  ['text', 'GET /clusters/rome/version HTTP/1.1', /text is not understood/],
  ['a message above the limit', Buffer.alloc(2_000_000), /max payload size exceeded/],
  ['bytes that are not frames', Buffer.alloc(1_000, 0xff), /a frame of /],
]

/** Opens a tunnel like the agent of a cluster. */
async function agentDoor(fleet: TestHub) {
  await registerCluster(fleet, 'edge')
  const user = agentUserName('edge')
  const subject = { commonName: user, organizations: [agentsGroup] }
  const { certificate: cert, key } = await fleet.credentialsOf(subject)
  const url = `${fleet.url.replace('https:', 'wss:')}${tunnelPrefix}edge`
  const open = (protocol: string, userAgent: string): WebSocket => {
    const headers = { 'user-agent': userAgent }
    return new WebSocket(url, protocol, { ca: fleet.caPem, cert, key, headers })
  }
  return { user, open }
}

test('an agent that breaks a rule of the tunnel is recorded with the rule', async () => {
  await using fleet = await startTestHub()
  const { user, open } = await agentDoor(fleet)
  for (const [what, sent] of brokenRules) {
    const socket = open('tunnel.v2.skerry', what)
    await once(socket, 'open', { signal: soon() })
    socket.on('error', () => undefined)
    const closed = once(socket, 'close', { signal: soon() })
    socket.send(sent)
    await closed
  }
  const limit = soon()
  for (const [what, , cut] of brokenRules) {
    const line = await until(async () => {
      const lines = await auditedLines(fleet)
      return lines.map((each) => JSON.parse(each)).find(({ userAgent }) => userAgent === what)
    }, limit)
    assert.match(line.cut, cut)
    const { cluster, source, status, uri } = line
    assert.deepEqual(
      { user: line.user, cluster, source, status, uri },
      { user, cluster: 'edge', source: '127.0.0.1', status: 101, uri: `${tunnelPrefix}edge` },
    )
  }
})

test('a refused handshake of an agent is recorded with its status', async () => {
  await using fleet = await startTestHub()
  const { user, open } = await agentDoor(fleet)
  const [failed] = await once(open('tunnel.v0.skerry', 'old'), 'error', { signal: soon() })
  assert.match(String(failed), /400/)
  const isWanted = ({ uri }: AuditedLine): boolean => uri === `${tunnelPrefix}edge`
  const [line] = await untilAudited(fleet, { count: 1, isWanted }, soon())
  assert.deepEqual([line?.user, line?.status], [user, 400])
})
