/**
 * Measures the rules of a node with many services that stay near: the time from the change of an endpoint until a
 * connection to the service's address reaches the new one. It runs in a host of its own, and prints its figures as JSON.
 * Arguments: the bundle's entry, a directory, the host's address, and kube-proxy if it is a peer.
 */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { runProgram, type RunningProgram } from '../../hack/upstream/run-program.ts'
import type { RawClient } from '../../processes/raw-client.ts'
import { expectSent } from '../fleet/watched-objects.ts'
import { bareSite, inCrowd, make, startServer, type Server } from '../measure/agent-fleet.ts'
import { median } from '../measure/figure.ts'
import type { MeasuredServices } from './services.ts'

const execute = promisify(execFile)

const services = 1_000
const changes = 20
/** kube-proxy waits for a second between two changes; both have rested by then. */
const restMs = 1_500
const settleMs = 5_000
const answerMsMax = 60_000
const lookMs = 2

/** Two addresses of this host that are the near endpoints of the watched service, one at a time. */
const nearAddresses = ['10.42.255.1', '10.42.255.2'] as const
const serviceRange = '10.43.0.0/16'

const zoneLabel = 'topology.kubernetes.io/zone'
const ownNode = 'node-0'
const nodes = [
  { name: ownNode, zone: 'here' },
  { name: 'node-1', zone: 'here' },
  { name: 'node-2', zone: 'there' },
  { name: 'node-3', zone: 'there' },
]

const slicesPath = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices'

interface Scene {
  readonly site: Server
  readonly directory: string
  readonly address: string
  /** The address of the watched service. */
  readonly watched: string
}

type StartProxy = (scene: Scene) => Promise<RunningProgram>

async function measure(): Promise<MeasuredServices> {
  const [program = '', directory = '', address = '', kubeProxy] = process.argv.slice(2)
  await mkdir(directory, { recursive: true })
  for (const near of nearAddresses) await ip('address', 'add', `${near}/32`, 'dev', 'lo')
  await ip('route', 'add', serviceRange, 'dev', 'lo', 'src', address)
  await using site = await startServer({ program, directory }, 'site', bareSite)
  await makeCluster(site.client, address)
  const watched = await addressOf(site.client, 'service-0')
  const answering = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.end(socket.localAddress ?? '')
  })
  answering.listen(8_080, '0.0.0.0')
  await once(answering, 'listening')
  const scene = { site, directory, address, watched }
  const ours = await measureProxy(scene, startOurs)
  const peer = kubeProxy === undefined ? {} : { peer: await measurePeer(scene, kubeProxy) }
  answering.close()
  return { ours, ...peer }
}

async function measurePeer(scene: Scene, path: string): Promise<Record<string, number>> {
  await execute('nft', ['flush', 'ruleset'])
  return measureProxy(scene, (of) => startKubeProxy(of, path))
}

function startOurs({ site, directory, address }: Scene): Promise<RunningProgram> {
  const script = join(import.meta.dirname, 'service-node.ts')
  const flags = ['--disable-warning=ExperimentalWarning']
  const kubeconfig = join(site.data, 'admin.kubeconfig')
  return runProgram({
    path: process.execPath,
    args: [...flags, script, kubeconfig, join(directory, 'node'), ownNode, address],
    logPath: join(directory, 'node.log'),
  })
}

function startKubeProxy({ site, directory }: Scene, path: string): Promise<RunningProgram> {
  return runProgram({
    path,
    args: [
      '--proxy-mode=nftables',
      `--kubeconfig=${join(site.data, 'admin.kubeconfig')}`,
      `--hostname-override=${ownNode}`,
      '--cluster-cidr=10.42.0.0/16',
      '--conntrack-max-per-core=0',
      '--conntrack-tcp-timeout-established=0s',
      '--conntrack-tcp-timeout-close-wait=0s',
    ],
    logPath: join(directory, 'kube-proxy.log'),
  })
}

async function makeCluster(site: RawClient, address: string): Promise<void> {
  for (const { name, zone } of nodes) {
    const labels = { 'kubernetes.io/hostname': name, [zoneLabel]: zone }
    await make(site, '/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels },
    })
  }
  const status = { addresses: [{ type: 'InternalIP', address }] }
  await expectSent(site, 'PATCH', `/api/v1/nodes/${ownNode}/status`, { status })
  const names = Array.from({ length: services }, (_, index) => `service-${index}`)
  await inCrowd(names, async (name) => {
    await make(site, '/api/v1/namespaces/default/services', serviceOf(name))
    await make(site, slicesPath, sliceOf(name))
  })
}

/** Both ways to stay near say the same: SuperEdge's annotation, and the hints that Kubernetes' controller writes. */
function serviceOf(name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, annotations: { topologyKeys: JSON.stringify([zoneLabel]) } },
    spec: { trafficDistribution: 'PreferSameZone', ports: [{ port: 80, targetPort: 8_080 }] },
  }
}

function sliceOf(name: string): object {
  const number = Number(name.slice('service-'.length))
  const labels = { 'kubernetes.io/service-name': name }
  const addresses = nodes.map((_, index) => `10.42.${number >> 6}.${(number & 63) * 4 + index}`)
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `${name}-0`, labels },
    addressType: 'IPv4',
    ports: [{ name: '', port: 8_080, protocol: 'TCP' }],
    endpoints: number === 0 ? watchedEndpoints(nearAddresses[0]) : endpointsOf(addresses),
  }
}

function watchedEndpoints(near: string): object[] {
  return endpointsOf([near]).concat(endpointsOf(['', '', '10.42.0.2', '10.42.0.3']).slice(2))
}

/** Returns an endpoint on each node, in the order of the nodes. */
function endpointsOf(addresses: readonly string[]): object[] {
  return addresses.map((address, index) => {
    const { name: nodeName, zone } = nodes[index] ?? { name: '', zone: '' }
    const hints = { forZones: [{ name: zone }] }
    return { addresses: [address], conditions: { ready: true }, nodeName, zone, hints }
  })
}

async function addressOf(site: RawClient, name: string): Promise<string> {
  const { body } = await site.get(`/api/v1/namespaces/default/services/${name}`)
  // A Service, as this path has it.
  return (JSON.parse(body.toString()) as { spec: { clusterIP: string } }).spec.clusterIP
}

async function measureProxy(scene: Scene, start: StartProxy): Promise<Record<string, number>> {
  const { site, watched } = scene
  await changeTo(site.client, nearAddresses[0])
  await using proxy = await start(scene)
  await untilAnswer(watched, nearAddresses[0])
  await sleep(settleMs)
  const beforeMs = await processorMsWithChildren(proxy.pid)
  const times: number[] = []
  for (let change = 1; change <= changes; change += 1) {
    const near = nearAddresses[change % 2] ?? ''
    const startMs = performance.now()
    await changeTo(site.client, near)
    await untilAnswer(watched, near)
    times.push(performance.now() - startMs)
    await sleep(restMs)
  }
  const spentMs = (await processorMsWithChildren(proxy.pid)) - beforeMs
  const slowest = times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.95) - 1] ?? 0
  return { 'rule.p50': median(times), 'rule.p95': slowest, processor: spentMs / changes }
}

function changeTo(site: RawClient, near: string): Promise<void> {
  return expectSent(site, 'PATCH', `${slicesPath}/service-0-0`, {
    endpoints: watchedEndpoints(near),
  })
}

async function untilAnswer(address: string, wanted: string): Promise<void> {
  const endMs = performance.now() + answerMsMax
  for (;;) {
    const answer = await answerOf(address)
    if (answer === wanted) return
    if (performance.now() > endMs) {
      throw new Error(`Cannot measure: ${address} answers "${answer}", and not ${wanted}`)
    }
    await sleep(lookMs)
  }
}

/** Returns the endpoint that a new connection reaches; empty if none does. */
async function answerOf(address: string): Promise<string> {
  const socket = connect({ host: address, port: 80, timeout: 1_000 })
  let text = ''
  socket.setEncoding('utf8')
  socket.on('data', (chunk: string) => (text += chunk))
  socket.on('error', () => socket.destroy())
  socket.on('timeout', () => socket.destroy())
  await new Promise((resolve) => socket.once('close', resolve))
  return text
}

const msPerTick = 10

/** Includes the programs that the process has run, such as nft. */
async function processorMsWithChildren(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * msPerTick
}

async function ip(...args: string[]): Promise<void> {
  await execute('ip', args)
}

process.stdout.write(JSON.stringify(await measure()))
