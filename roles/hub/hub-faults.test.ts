import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLogger, type Logger } from '@skerry/base'
import { readBody, resources } from '@skerry/client'
import { clusterAccessResource, clusterResource } from '@skerry/fleet-kinds'
import { pendingRegistrations } from '@skerry/membership'
import { spkiHash } from '@skerry/pki'
import { mountSmallDisk, until } from '@skerry/testing'
import { auditedLines } from '../../testing/scenes/audited-lines.ts'
import {
  freshToken,
  startTestAgent,
  startTestHub,
  type TestHub,
} from '../../testing/scenes/test-fleet.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const operator = { commonName: 'olga', organizations: ['system:masters'] }
const skip = process.getuid?.() === 0 ? false : 'needs root: it mounts a small disk'

function portOf(server: { address(): unknown }): number {
  // A listening TCP server has an address of this shape.
  return (server.address() as AddressInfo).port
}

/** Stands in for an API server. It answers a watch with its head, and with what `say` sends later. */
async function startEdge() {
  const watches: { write(text: string): void }[] = []
  const server = createServer((request, response) => {
    if (!request.url?.includes('watch=')) return void response.end('{}')
    response.flushHeaders()
    watches.push(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    say: (text: string) => watches.forEach((watch) => watch.write(text)),
    async [Symbol.asyncDispose]() {
      if (!server.listening) return
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A way to the hub that can stall, as a link that is down does, and resume. */
async function startWay(hub: string) {
  const sockets = new Set<Socket>()
  const server = createTcpServer((near) => {
    const far = connect(Number(new URL(hub).port), '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (chunk: Buffer) => void to.write(chunk))
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `https://127.0.0.1:${portOf(server)}`,
    stall: () => sockets.forEach((socket) => socket.pause()),
    resume: () => sockets.forEach((socket) => socket.resume()),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

async function addCluster(fleet: TestHub): Promise<void> {
  const cluster = {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name: 'edge' },
    spec: { syncMode: 'Pull' },
  } as const
  await fleet.admin.resource(clusterResource).create(cluster, soon())
}

async function ask(fleet: TestHub, path = '/version') {
  using transport = await fleet.as(operator, '/clusters/edge')
  const answer = await transport.send({ method: 'GET', path, headers: {} }, soon())
  const text = (await readBody(answer.body)).toString('utf8')
  return { status: answer.status, text, retryAfter: answer.headers['retry-after'] }
}

test('a link that stands still is reported within seconds, and goes on with its watches', async () => {
  await using edge = await startEdge()
  await using fleet = await startTestHub()
  await using way = await startWay(fleet.url)
  await addCluster(fleet)
  const options = { name: 'edge', api: { server: edge.url }, hub: way.url }
  await using agent = await startTestAgent(fleet, options)
  await agent.connected()
  using transport = await fleet.as(operator, '/clusters/edge')
  const path = '/api/v1/pods?watch=1'
  const watch = await transport.send({ method: 'GET', path, headers: {} }, soon())
  const events = watch.body[Symbol.asyncIterator]()
  const [tunnel] = fleet.hub.connections.own.sessions('edge')
  way.stall()
  const waited = await ask(fleet)
  assert.equal(waited.status, 503)
  assert.match(waited.text, /Cannot reach cluster \\"edge\\": nothing heard for \d+ s/)
  // Now the hub knows: the next request does not wait, and is told when to return.
  const refused = await ask(fleet)
  assert.deepEqual([refused.status, refused.retryAfter], [503, '2'])
  way.resume()
  edge.say('{"type":"BOOKMARK"}\n')
  assert.match(String(Buffer.from((await events.next()).value ?? [])), /BOOKMARK/)
  assert.equal((await ask(fleet)).status, 200)
  assert.deepEqual(fleet.hub.connections.own.sessions('edge'), [tunnel])
})

test('an API server that is away is not taken for an agent that is away', async () => {
  const edge = await startEdge()
  await using fleet = await startTestHub()
  await addCluster(fleet)
  await using agent = await startTestAgent(fleet, { name: 'edge', api: { server: edge.url } })
  await agent.connected()
  await edge[Symbol.asyncDispose]()
  const answer = await ask(fleet)
  assert.equal(answer.status, 503)
  assert.match(answer.text, /Cannot reach the cluster's API server: connect ECONNREFUSED/)
  assert.equal(fleet.hub.connections.own.sessions('edge').length, 1)
})

/** Starts an agent as a separate process, which can be stopped and killed. */
async function spawnAgent(fleet: TestHub, server: string) {
  const directory = join(fleet.directory, 'process')
  await mkdir(directory)
  const [tokenFile, kubeconfig] = [join(directory, 'token'), join(directory, 'kubeconfig')]
  await writeFile(tokenFile, await freshToken(fleet, 'edge'), { mode: 0o600 })
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'a', cluster: { server } }],
    users: [{ name: 'a', user: {} }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    'current-context': 'a',
  }
  await writeFile(kubeconfig, JSON.stringify(config))
  const hub = ['--hub', fleet.url, '--name', 'edge', '--ca-hash', spkiHash(fleet.caPem)]
  const own = ['--data-dir', directory, '--kubeconfig', kubeconfig, '--token-file', tokenFile]
  const program = join(import.meta.dirname, '../../cmd/skerry.ts')
  const child = spawn(
    process.execPath,
    [program, 'agent', '--log-level', 'error', ...hub, ...own],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  )
  return {
    signal: (name: NodeJS.Signals) => void child.kill(name),
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
    async [Symbol.asyncDispose]() {
      await this.kill()
    },
  }
}

test('a suspended agent is reported as such, and is the same when it goes on; a killed one is gone', async () => {
  await using edge = await startEdge()
  await using fleet = await startTestHub()
  await addCluster(fleet)
  await using agent = await spawnAgent(fleet, edge.url)
  await until(async () => (await ask(fleet)).status === 200, soon())
  const [tunnel] = fleet.hub.connections.own.sessions('edge')
  agent.signal('SIGSTOP')
  const waited = await ask(fleet)
  assert.equal(waited.status, 503)
  assert.match(waited.text, /nothing heard for \d+ s/)
  agent.signal('SIGCONT')
  await until(async () => (await ask(fleet)).status === 200, soon())
  assert.deepEqual(fleet.hub.connections.own.sessions('edge'), [tunnel])
  await agent.kill()
  await tunnel?.closed
  const gone = await ask(fleet)
  assert.deepEqual([gone.status, gone.retryAfter], [503, '2'])
  assert.match(gone.text, /(connection was cut|ECONNRESET), not connected since 20/)
})

test(
  'a hub on a full disk reads and connects, refuses to write, and loses nothing',
  { skip },
  async () => {
    await using disk = await mountSmallDisk(48)
    await using edge = await startEdge()
    await using fleet = await startTestHub({ parent: disk.path })
    await addCluster(fleet)
    await using agent = await startTestAgent(fleet, { name: 'edge', api: { server: edge.url } })
    await agent.connected()
    const accesses = fleet.admin.resource(clusterAccessResource)
    const kept: string[] = []
    const fill = async (): Promise<never> => {
      for (let number = 0; ; number += 1) {
        const name = `guests-${number}`
        await accesses.create(
          {
            apiVersion: 'hub.skerry.io/v1alpha1',
            kind: 'ClusterAccess',
            metadata: { name, annotations: { text: 'x'.repeat(20_000) } },
            spec: {
              subjects: [{ kind: 'User', name, apiGroup: 'rbac.authorization.k8s.io' }],
              clusterSelector: {},
              verbs: ['get'],
            },
          },
          soon(),
        )
        kept.push(name)
      }
    }
    await disk.fill()
    await assert.rejects(fill(), /disk is full|no space/i)
    for (let times = 0; times < 3; times += 1) {
      // The padding exceeds the rest of the audit log's last block.
      const padding = 'x'.repeat(10_000)
      assert.equal((await ask(fleet, `/version?full=${times}&${padding}`)).status, 200)
    }
    await disk.free()
    const { metadata } = await accesses.create(
      {
        apiVersion: 'hub.skerry.io/v1alpha1',
        kind: 'ClusterAccess',
        metadata: { name: 'later' },
        spec: { subjects: [], clusterSelector: {}, verbs: ['get'] },
      },
      soon(),
    )
    assert.ok(metadata.resourceVersion)
    const { items } = await accesses.list({}, soon())
    const names = items.map((item) => item.metadata.name)
    assert.deepEqual(new Set(names), new Set([...kept, 'later']))
    const audited = async (): Promise<number> => {
      const lines = await auditedLines(fleet)
      return lines.filter((line) => line.includes('/version?full=')).length
    }
    await until(async () => (await audited()) >= 3, soon())
  },
)

test(
  'an agent on a full disk asks for nothing, and registers by itself when there is space',
  { skip },
  async () => {
    await using disk = await mountSmallDisk(4)
    await using edge = await startEdge()
    await using fleet = await startTestHub()
    await addCluster(fleet)
    const told = Promise.withResolvers<string>()
    const info: Logger['info'] = (message, { error } = {}) => {
      if (message === 'Not registered yet') told.resolve(String(error))
    }
    const log: Logger = { ...silentLogger, info }
    await disk.fill()
    const directory = join(disk.path, 'agent')
    await using agent = await startTestAgent(
      { ...fleet, context: { ...fleet.context, log } },
      { name: 'edge', api: { server: edge.url }, directory },
    )
    const connected = agent.connected()
    assert.match(await told.promise, /the disk is full|ENOSPC/)
    const requests = fleet.admin.resource(resources.certificateSigningRequests)
    assert.deepEqual((await requests.list({}, soon())).items, [], 'it has asked for nothing')
    await disk.free()
    await connected
    assert.deepEqual(await pendingRegistrations(fleet.admin, soon()), [])
    assert.match(await readFile(join(directory, 'agent.crt'), 'utf8'), /BEGIN CERTIFICATE/)
  },
)

test('an agent that lost its certificate before it was written comes again with its token', async () => {
  await using edge = await startEdge()
  await using fleet = await startTestHub()
  await addCluster(fleet)
  const directory = join(fleet.directory, 'agent')
  const token = await freshToken(fleet, 'edge')
  const options = { name: 'edge', api: { server: edge.url }, directory, token }
  {
    await using agent = await startTestAgent(fleet, options)
    await agent.connected()
  }
  // The state is as if the power had failed after the hub signed it.
  await rm(join(directory, 'agent.crt'))
  await using agent = await startTestAgent(fleet, options)
  await agent.connected()
  assert.deepEqual(await pendingRegistrations(fleet.admin, soon()), [])
})
