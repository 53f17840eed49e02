import assert from 'node:assert/strict'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { resources } from '@skerry/client'
import { clusterResource, parseAllowedDial } from '@skerry/fleet-kinds'
import { ShellError, type EdgeCluster } from '@skerry/provisioning'
import {
  startTestAgent,
  startTestEdge,
  startTestHub,
  untilCluster,
  type TestAgentOptions,
  type TestHub,
} from '../../../testing/scenes/test-fleet.ts'
import { hostAddresses } from '../../runtime/host-addresses.ts'
import { dialCluster } from './dial-cluster.ts'

/** Bounds one test: all of them together take a minute on a loaded machine. */
const soon = (): AbortSignal => AbortSignal.timeout(60_000)

interface Scene extends AsyncDisposable {
  readonly fleet: TestHub
  readonly address: string
  readonly port: number
  dial(to?: { address?: string; port?: number; namespace?: string }): Promise<string>
}

/** A hub, an agent of cluster `branch-7`, and a machine in reach of that agent that says hello. */
async function startScene(
  dials: (at: { address: string; port: number; directory: string }) => TestAgentOptions['dials'],
  own: readonly string[] = [],
): Promise<Scene> {
  await using stack = new AsyncDisposableStack()
  const [address = ''] = hostAddresses()
  const server = createServer((socket) => socket.on('error', () => undefined).end('hello'))
  stack.defer(() => void server.close())
  await once(server.listen(0, address), 'listening')
  const listening = server.address()
  const port = typeof listening === 'object' && listening !== null ? listening.port : 0
  const edge = stack.use(await startTestEdge())
  const fleet = stack.use(await startTestHub())
  const allowed = dials({ address, port, directory: join(fleet.directory, 'allow-dial.d') })
  const agent = { name: 'branch-7', api: edge.api, ownAddresses: () => own }
  stack.use(await startTestAgent(fleet, { ...agent, ...(allowed ? { dials: allowed } : {}) }))
  await untilCluster(fleet, 'branch-7', ({ Connected }) => Connected === 'True')
  const owned = stack.move()
  return {
    fleet,
    address,
    port,
    async dial({ namespace = 'edges', ...to } = {}) {
      const dialled = { clusterName: 'branch-7', address, port, ...to }
      const hub = { cluster: fleet.admin, way: fleet.hub.connections.clusters }
      const stream = await dialCluster(dialled, edgeOf(namespace), hub, soon())
      return (await stream.setEncoding('utf8').toArray()).join('')
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

function edgeOf(namespace: string): EdgeCluster {
  return {
    apiVersion: 'hub.skerry.io/v1alpha1',
    kind: 'EdgeCluster',
    metadata: { namespace, name: 'branch-7', uid: 'uid-7' },
    spec: { machines: [] },
  }
}

async function claimFor(fleet: TestHub, owner: string): Promise<void> {
  const metadata = { namespace: 'kube-system', name: 'edge-cluster-branch-7' }
  const claim = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { owner } }
  await fleet.admin.resource(resources.configMaps).create(claim, soon())
}

const isRefused =
  (pattern: RegExp, fault = 'refused') =>
  (error: unknown): boolean => {
    assert.ok(error instanceof ShellError, String(error))
    assert.equal(error.fault, fault, error.message)
    assert.match(error.message, pattern)
    return true
  }

const dialsOf = (text: string): TestAgentOptions['dials'] => ({
  addresses: [parseAllowedDial(text)].flatMap((each) => each ?? []),
})

test('an agent dials nothing that its operator does not allow, and the refusal names the option', async () => {
  await using scene = await startScene(() => undefined)
  const { fleet, address, port } = scene
  await claimFor(fleet, 'edges/branch-7/uid-7')
  await assert.rejects(
    scene.dial(),
    isRefused(
      new RegExp(
        `^Cannot dial ${address}:${port} through cluster "branch-7": its agent does not allow it; start the agent with --allow-dial ${address}:${port}$`,
      ),
    ),
  )
})

test('an agent dials allowed addresses and no others; its own machine, never', async () => {
  const own: string[] = []
  await using scene = await startScene(({ address, port }) => dialsOf(`${address}/24:${port}`), own)
  await claimFor(scene.fleet, 'edges/branch-7/uid-7')
  assert.equal(await scene.dial(), 'hello')
  await assert.rejects(scene.dial({ port: 1 }), isRefused(/--allow-dial \S+:1$/))
  await assert.rejects(scene.dial({ address: '198.51.100.1' }), isRefused(/does not allow it/))
  await assert.rejects(scene.dial({ address: 'localhost' }), isRefused(/does not allow it/))
  own.push(scene.address)
  await assert.rejects(scene.dial(), isRefused(/is the agent's own machine/))
})

for (const [address, host] of [
  ['127.0.0.1', '127.0.0.0/8'],
  ['169.254.169.254', '169.254.169.254'],
  ['localhost', 'localhost'],
] as const) {
  test(`an agent never dials ${address}, even if it is allowed`, async () => {
    await using scene = await startScene(({ port }) => dialsOf(`${host}:${port}`))
    await claimFor(scene.fleet, 'edges/branch-7/uid-7')
    await assert.rejects(scene.dial({ address }), isRefused(/the agent does not dial it/))
  })
}

test('files of a directory allow further addresses, are read at each dial, and a wrong line is named', async () => {
  let directory = ''
  await using scene = await startScene((at) => {
    directory = at.directory
    return { directory }
  })
  const { address, port } = scene
  await claimFor(scene.fleet, 'edges/branch-7/uid-7')
  await assert.rejects(scene.dial(), isRefused(/does not allow it/))
  await mkdir(directory)
  await writeFile(join(directory, address), `# one machine\n\n${address}:${port}\n`)
  await writeFile(join(directory, '.other.skerry-new'), 'half a li')
  assert.equal(await scene.dial(), 'hello')
  await writeFile(join(directory, 'odd'), `${address}:1\nnone\n`)
  await assert.rejects(scene.dial(), isRefused(/odd: line 2 is not <address>/, 'unreachable'))
  await rm(join(directory, 'odd'))
  await rm(join(directory, address))
  await assert.rejects(scene.dial(), isRefused(/does not allow it/))
})

test('a machine that does not answer is tried again later', async () => {
  await using scene = await startScene(({ address }) => dialsOf(`${address}:1`))
  await claimFor(scene.fleet, 'edges/branch-7/uid-7')
  const failed = isRefused(/^Cannot dial \S+:1 through cluster "branch-7": connect/, 'unreachable')
  await assert.rejects(scene.dial({ port: 1 }), failed)
})

test('an EdgeCluster dials through clusters of its namespace, and those whose administrator names it', async () => {
  await using scene = await startScene(({ address, port }) => dialsOf(`${address}:${port}`))
  const { fleet } = scene
  const unnamed = isRefused(/it does not belong to an EdgeCluster of namespace edges/)
  await assert.rejects(scene.dial(), unnamed)
  const patch = { metadata: { annotations: { 'hub.skerry.io/dial-namespaces': 'a, edges' } } }
  const named = { name: 'branch-7', type: 'merge' as const, patch }
  await fleet.admin.resource(clusterResource).patch(named, soon())
  assert.equal(await scene.dial(), 'hello')
  await assert.rejects(scene.dial({ namespace: 'edge' }), isRefused(/of namespace edge,/))
  await claimFor(fleet, 'edge/other/uid-9')
  assert.equal(await scene.dial({ namespace: 'edge' }), 'hello')
})

test('a cluster that is away or unknown is tried again later', async () => {
  await using fleet = await startTestHub()
  await claimFor(fleet, 'edges/branch-7/uid-7')
  const to = { clusterName: 'branch-7', address: '198.51.100.1', port: 22 }
  const dialled = dialCluster(
    to,
    edgeOf('edges'),
    { cluster: fleet.admin, way: fleet.hub.connections.clusters },
    soon(),
  )
  await assert.rejects(dialled, isRefused(/^Cannot dial 198\.51\.100\.1:22/, 'unreachable'))
})
