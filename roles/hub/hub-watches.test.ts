import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import type { ConfigMap } from '@skerry/api'
import { KubeConfig, makeInformer, CoreV1Api, type V1ConfigMap } from '@kubernetes/client-node'
import { silentLogger, systemClock, systemRandom } from '@skerry/base'
import {
  createCluster,
  createInformer,
  resources,
  type ResourceClient,
  type Transport,
} from '@skerry/client'
import { startTestEtcd, unpackClients, whyNoEtcd, type TestApiServer, until } from '@skerry/testing'
import { WebSocket } from 'ws'
import {
  startTestAgent,
  startTestEdge,
  startTestHub,
  untilCluster,
  type TestAgent,
  type TestHub,
} from '../../testing/scenes/test-fleet.ts'
import { replicaKeyPath } from '../control-plane/shared-keys.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const operator = { commonName: 'olga', organizations: ['system:masters'] }
const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'test' }

async function startFleet() {
  await using stack = new AsyncDisposableStack()
  const edge = stack.use(await startTestEdge())
  const fleet = stack.use(await startTestHub())
  const agent = stack.use(await startTestAgent(fleet, { name: 'edge', api: edge.api }))
  await untilCluster(
    fleet,
    'edge',
    ({ Ready, Connected }) => Ready === 'True' && Connected === 'True',
  )
  const transport = stack.use(await fleet.as(operator, '/clusters/edge'))
  const asked: string[] = []
  const counting: Transport = {
    send(request, signal) {
      asked.push(request.path)
      return transport.send(request, signal)
    },
  }
  const configMaps = createCluster(counting, deps).resource(resources.configMaps)
  const owned = stack.move()
  const dispose = () => owned.disposeAsync()
  return { edge, fleet, agent, configMaps, asked, [Symbol.asyncDispose]: dispose }
}

async function make({ objects }: TestApiServer, name: string, data = {}): Promise<void> {
  const object: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default' },
    data,
  }
  await objects.create({ group: '', resource: 'configmaps' }, { ...object })
}

/** Cuts the tunnel, and resolves when there is another. */
async function cut(fleet: TestHub, agent: TestAgent): Promise<void> {
  const back = agent.connected()
  fleet.hub.connections.own.closeIdentity('edge', 'a digger found the cable')
  await back
}

/** Names of what was added, one after the other. */
async function* added(
  events: ReturnType<ResourceClient<ConfigMap>['watch']>,
): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type === 'ADDED') yield event.object.metadata.name ?? ''
  }
}

test('a watch goes on when its tunnel breaks, and when its agent is another', async () => {
  await using all = await startFleet()
  const { edge, fleet, agent, configMaps } = all
  const { metadata } = await configMaps.list({ namespace: 'default' }, soon())
  const request = { namespace: 'default', resourceVersion: metadata.resourceVersion ?? '' }
  const names = added(configMaps.watch(request, soon()))
  const next = async (): Promise<unknown> => (await names.next()).value
  await make(edge, 'first')
  assert.equal(await next(), 'first')
  await cut(fleet, agent)
  // One object is created while the agent is offline, and one when it is back.
  await make(edge, 'second', { text: 'x'.repeat(400_000) })
  assert.equal(await next(), 'second')
  const directory = `${fleet.directory}/another`
  await using another = await startTestAgent(fleet, { name: 'edge', api: edge.api, directory })
  await another.connected()
  await agent[Symbol.asyncDispose]()
  await make(edge, 'third')
  assert.equal(await next(), 'third')
  await names.return(undefined)
})

test('an informer hears of each change once, and of no break', async () => {
  await using all = await startFleet()
  const { edge, fleet, agent, configMaps, asked } = all
  await make(edge, 'before')
  const informer = createInformer(configMaps, { namespace: 'default' }, deps)
  const seen: string[] = []
  using _listening = informer.onChange(({ type, object }) => {
    seen.push(`${type} ${object.metadata.name}`)
  })
  const stop = new AbortController()
  const running = informer.run(stop.signal)
  await informer.whenSynced(soon())
  for (const name of ['a', 'b', 'c']) {
    await cut(fleet, agent)
    await make(edge, name)
    await until(() => informer.get({ namespace: 'default', name }), soon())
  }
  stop.abort(new Error('seen enough'))
  await assert.rejects(running)
  assert.equal(asked.filter((path) => path.includes('watch=true')).length, 1, asked.join('\n'))
  assert.deepEqual(seen, ['added before', 'added a', 'added b', 'added c'])
})

/** Resolves once these have been seen, in this order and nothing between. */
async function untilSeen(seen: readonly string[], names: readonly string[]): Promise<void> {
  await until(() => seen.length >= names.length, soon())
  assert.deepEqual(seen, names)
}

async function writeConfig(fleet: TestHub): Promise<string> {
  const { certificate, key } = await fleet.credentialsOf(operator)
  const base64 = (text: string): string => Buffer.from(text).toString('base64')
  const path = join(fleet.directory, 'edge.kubeconfig')
  const cluster = {
    server: `${fleet.url}/clusters/edge`,
    'certificate-authority-data': base64(fleet.caPem),
  }
  const user = {
    'client-certificate-data': base64(certificate),
    'client-key-data': base64(key),
  }
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'edge', cluster }],
    users: [{ name: 'olga', user }],
    contexts: [{ name: 'edge', context: { cluster: 'edge', user: 'olga' } }],
    'current-context': 'edge',
  }
  await writeFile(path, JSON.stringify(config))
  return path
}

/** Starts kubectl, and records its output about ConfigMaps of the test. */
async function kubectlWatch(config: string, home: string) {
  const { kubectl } = await unpackClients()
  const args = ['--kubeconfig', config, 'get', 'cm', '--watch', '--no-headers']
  const child = spawn(kubectl, args, {
    env: { HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const seen: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [name = ''] = line.split(' ')
    seen.push(name)
  })
  return {
    seen,
    isRunning: () => child.exitCode === null,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

function clientNodeInformer(config: string) {
  const kubeConfig = new KubeConfig()
  kubeConfig.loadFromFile(config)
  const core = kubeConfig.makeApiClient(CoreV1Api)
  const seen: string[] = []
  const faults: unknown[] = []
  const informer = makeInformer<V1ConfigMap>(
    kubeConfig,
    '/api/v1/namespaces/default/configmaps',
    () => core.listNamespacedConfigMap({ namespace: 'default' }),
  )
  informer.on('add', (map) => void seen.push(map.metadata?.name ?? ''))
  informer.on('error', (error) => void faults.push(error))
  return {
    seen,
    faults,
    start: () => informer.start(),
    [Symbol.asyncDispose]: () => informer.stop(),
  }
}

async function watchSocket(fleet: TestHub) {
  const { certificate: cert, key } = await fleet.credentialsOf(operator)
  const path = '/clusters/edge/api/v1/namespaces/default/configmaps?watch=1&sendInitialEvents=true'
  const more = '&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
  const url = `${fleet.url.replace('https', 'wss')}${path}${more}`
  const socket = new WebSocket(url, ['base64.binary.k8s.io'], { ca: fleet.caPem, cert, key })
  const seen: string[] = []
  socket.on('message', (message: Buffer) => {
    const { type, object } = JSON.parse(message.toString())
    if (type === 'ADDED') seen.push(object.metadata.name)
  })
  await once(socket, 'open', { signal: soon() })
  assert.equal(socket.protocol, 'base64.binary.k8s.io')
  return { seen, socket, [Symbol.dispose]: () => socket.terminate() }
}

test('kubectl, a library and a browser see each event once while their tunnel breaks', async () => {
  await using all = await startFleet()
  const { edge, fleet, agent } = all
  await make(edge, 'before')
  const config = await writeConfig(fleet)
  await using kubectl = await kubectlWatch(config, fleet.directory)
  await using library = clientNodeInformer(config)
  await library.start()
  using browser = await watchSocket(fleet)
  const clients = [kubectl, library, browser]
  for (const { seen } of clients) await untilSeen(seen, ['before'])
  // A client that receives this one has its watch.
  await make(edge, 'open')
  const names = ['before', 'open']
  for (const { seen } of clients) await untilSeen(seen, names)
  for (const name of ['a', 'b', 'c']) {
    await cut(fleet, agent)
    await make(edge, name)
    names.push(name)
    for (const { seen } of clients) await untilSeen(seen, names)
  }
  assert.deepEqual(library.faults, [])
  assert.ok(kubectl.isRunning())
  assert.equal(browser.socket.readyState, WebSocket.OPEN)
})

const skip = await whyNoEtcd()

test('a watch through another replica goes on when that one stops', { skip }, async () => {
  await using edge = await startTestEdge()
  await using etcd = await startTestEtcd()
  const flags = { etcdServers: [etcd.endpoint], etcdPrefix: '/skerry/hub' }
  await using first = await startTestHub({ etcd: flags })
  const replicaKeyFile = replicaKeyPath(first.directory)
  await using stack = new AsyncDisposableStack()
  const second = await startTestHub({ etcd: flags, replicaKeyFile })
  const there = stack.use(second)
  await using far = await startTestAgent(first, { name: 'edge', api: edge.api, hub: there.url })
  await far.connected()
  using transport = await first.as(operator, '/clusters/edge')
  const configMaps = createCluster(transport, deps).resource(resources.configMaps)
  // A link between replicas that was refused once waits for up to half a minute.
  const signal = AbortSignal.timeout(60_000)
  const version = { method: 'GET', path: '/version', headers: {} } as const
  await until(async () => (await transport.send(version, signal)).status === 200, signal)
  const { metadata } = await configMaps.list({ namespace: 'default' }, signal)
  const request = { namespace: 'default', resourceVersion: metadata.resourceVersion ?? '' }
  const names = added(configMaps.watch(request, signal))
  await make(edge, 'first')
  assert.equal((await names.next()).value, 'first')
  const directory = join(first.directory, 'near')
  await using near = await startTestAgent(first, { name: 'edge', api: edge.api, directory })
  await near.connected()
  await stack.disposeAsync()
  await make(edge, 'second')
  assert.equal((await names.next()).value, 'second')
  await names.return(undefined)
})
