/** A hub, an edge, and services in it that listen on this machine's address; for tests. */
import { once } from 'node:events'
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import type { IncomingHttpHeaders } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import type { Subject } from '@skerry/pki'
import type { Objects } from '@skerry/apiserver'
import { resources } from '@skerry/client'
import { parseAllowedService, type AllowedService } from '@skerry/fleet-kinds'
import { hostAddresses } from '../../roles/runtime/host-addresses.ts'
import { ensureAgentObjects } from '../../roles/site/objects/agent-objects.ts'
import { auditedLines } from './audited-lines.ts'
import {
  heldWay,
  startTestAgent,
  startTestEdge,
  startTestHub,
  untilCluster,
  type HeldWay,
  type TestAgent,
  type TestHub,
  type TestHubOptions,
} from './test-fleet.ts'
import { until } from '../until.ts'

export const shopper: Subject = Object.freeze({ commonName: 'sven' })
const pods = Object.freeze({ group: '', resource: 'pods' })
const accounts = Object.freeze({ group: '', resource: 'serviceaccounts' })
const rbac = 'rbac.authorization.k8s.io'

export interface ServiceScene extends AsyncDisposable, EdgeObjects {
  readonly fleet: TestHub
  readonly agent: TestAgent
  /** The agent's, to the hub. */
  readonly way: HeldWay
  /** An address of this machine other than the loopback's, to which no service may lead. */
  readonly address: string
  /** Lets the server listen, and creates a Service `shop/<name>` with port 80 for it. */
  serve(name: string, server: Server, more?: ServiceShape): Promise<number>
  /** Grants a user these verbs at clusters/services of `edge`, or at another subresource. */
  allow(user: string, verbs: readonly string[], resource?: string): Promise<void>
  call(path: string, options?: ServiceCall): Promise<ServiceReply>
  options(path: string, user?: Subject): Promise<RequestOptions>
  http2(user?: Subject): Promise<ClientHttp2Session>
  /** Resolves with the lines of the hub's audit log whose URI has this prefix, once there are enough. */
  audited(path: string, count: number): Promise<AuditLine[]>
}

/** Creates objects of the edge, as an administrator there would. */
interface EdgeObjects {
  createService(name: string, spec: Record<string, unknown>): Promise<void>
  /** Leads the only port of a Service to addresses. */
  createEndpoints(name: string, addresses: readonly string[], port: EndpointPort): Promise<void>
  createNode(name: string, address: string, podCIDR?: string): Promise<void>
  /** A ready pod `shop/<name>` with the label `app: <name>`, and what a test changes of it. */
  createPod(name: string, address: string, more?: PodShape): Promise<void>
}

export interface PodShape {
  readonly labels?: Record<string, string>
  readonly spec?: Record<string, unknown>
  readonly status?: Record<string, unknown>
}

export interface SceneOptions extends TestHubOptions {
  /**
   * Returns addresses to which no service may lead. Default: none, because the scene's services listen on
   * this machine.
   */
  readonly ownAddresses?: () => readonly string[]
}

interface EndpointPort {
  readonly port: number
  readonly name?: string
  readonly appProtocol?: string
}

export interface ServiceShape {
  readonly appProtocol?: string
  readonly portName?: string
}

export interface ServiceCall {
  readonly user?: Subject
  readonly method?: string
  readonly headers?: Record<string, string | string[]>
  readonly body?: string
}

export interface ServiceReply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly trailers: Readonly<Record<string, string | undefined>>
}

export interface AuditLine {
  readonly user?: string
  readonly cluster?: string
  readonly method: string
  readonly uri: string
  readonly status: number
  readonly bytesIn?: number
  readonly bytesOut?: number
  readonly cut?: string
}

export async function startServiceScene(
  allowed: readonly string[],
  { ownAddresses = () => [], ...hub }: SceneOptions = {},
): Promise<ServiceScene> {
  await using stack = new AsyncDisposableStack()
  const edge = stack.use(await startTestEdge())
  const services = allowed.flatMap((text) => parseAllowedService(text) ?? [])
  await ensureAgentObjects(edge.objects, { services })
  await edge.objects.create(
    { group: '', resource: 'namespaces' },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
  )
  const fleet = stack.use(await startTestHub(hub))
  const way = heldWay()
  const agent = stack.use(
    await startTestAgent(fleet, {
      name: 'edge',
      connect: way.connect,
      api: edge.api,
      services: services satisfies AllowedService[],
      ownAddresses,
    }),
  )
  await untilCluster(fleet, 'edge', ({ Connected }) => Connected === 'True')
  const [address] = hostAddresses()
  if (address === undefined) throw new Error('Cannot test services: this machine has no address')
  const { objects } = edge
  const objectsOf = edgeObjects(objects)
  const serving = stack.use(new AsyncDisposableStack())
  const options: ServiceScene['options'] = async (path, user = shopper) => {
    const { certificate: cert, key } = await fleet.credentialsOf(user)
    return { host: '127.0.0.1', port: new URL(fleet.url).port, path, ca: fleet.caPem, cert, key }
  }
  const scene: Omit<ServiceScene, typeof Symbol.asyncDispose> = {
    fleet,
    agent,
    way,
    address,
    options,
    async serve(name, server, { appProtocol, portName } = {}) {
      server.listen(0, address)
      await once(server, 'listening')
      serving.defer(() => closed(server))
      // A listening TCP server has an address of this shape.
      const { port } = server.address() as AddressInfo
      const own = {
        ...(portName === undefined ? {} : { name: portName }),
        ...(appProtocol === undefined ? {} : { appProtocol }),
      }
      const ports = [{ port: 80, targetPort: port, ...own }]
      await objectsOf.createService(name, { selector: { app: name }, ports })
      await objectsOf.createPod(name, address)
      return port
    },
    ...objectsOf,
    allow: (user, verbs, resource = 'clusters/services') => grant(fleet, { user, verbs, resource }),
    async call(path, { user, method = 'GET', headers = {}, body } = {}) {
      return replyOf({ ...(await options(path, user)), method, headers }, body)
    },
    async http2(user = shopper) {
      const { certificate: cert, key } = await fleet.credentialsOf(user)
      const session = connectHttp2(fleet.url, { ca: fleet.caPem, cert, key })
      session.on('error', () => undefined)
      return session
    },
    audited: (path, count) => auditLines(fleet, path, count),
  }
  const owned = stack.move()
  return { ...scene, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** A pod that runs, as its node would report it. */
export async function createReadyPod(
  objects: Objects,
  { namespace, name, address }: { namespace: string; name: string; address: string },
  { labels = { app: name }, spec = {}, status = {} }: PodShape = {},
): Promise<void> {
  await ensureNode(objects, address)
  const containers = [{ name: 'main', image: 'main' }]
  const conditions = [{ type: 'Ready', status: 'True' }]
  if (!objects.get(accounts, namespace, 'default')) {
    const account = { apiVersion: 'v1', kind: 'ServiceAccount' }
    await objects.create(accounts, { ...account, metadata: { namespace, name: 'default' } })
  }
  await objects.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, labels },
    spec: { nodeName: 'somewhere', containers, ...spec },
  })
  const running = { phase: 'Running', podIP: address, podIPs: [{ ip: address }], conditions }
  await objects.update(pods, { namespace, name, subresource: 'status' }, (object) => {
    object['status'] = { ...running, ...status }
  })
}

/** Creates the default node of tests' pods, whose range contains the addresses of this machine. */
async function ensureNode(objects: Objects, address: string): Promise<void> {
  const nodes = { group: '', resource: 'nodes' }
  if (objects.get(nodes, '', 'somewhere')) return
  const podCIDR = `${address}/${address.includes(':') ? 128 : 32}`
  await objects.create(nodes, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'somewhere' },
    spec: { podCIDR, podCIDRs: [podCIDR] },
  })
}

function edgeObjects(objects: Objects): EdgeObjects {
  return {
    async createService(name, spec) {
      const metadata = { namespace: 'shop', name }
      const service = { apiVersion: 'v1', kind: 'Service', metadata, spec }
      await objects.create({ group: '', resource: 'services' }, service)
    },
    async createEndpoints(name, addresses, port) {
      const slice = {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: {
          namespace: 'shop',
          name: `${name}-1`,
          labels: { 'kubernetes.io/service-name': name },
        },
        addressType: addresses.some((each) => each.includes(':')) ? 'IPv6' : 'IPv4',
        endpoints: addresses.map((each) => ({ addresses: [each], conditions: { ready: true } })),
        ports: [{ protocol: 'TCP', name: '', ...port }],
      }
      await objects.create({ group: 'discovery.k8s.io', resource: 'endpointslices' }, slice)
    },
    createPod: (name, address, more) =>
      createReadyPod(objects, { namespace: 'shop', name, address }, more),
    async createNode(name, address, podCIDR) {
      const status = { addresses: [{ type: 'InternalIP', address }] }
      const spec = podCIDR === undefined ? {} : { podCIDR, podCIDRs: [podCIDR] }
      const node = { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec, status }
      await objects.create({ group: '', resource: 'nodes' }, node)
    },
  }
}

function auditLines(hub: TestHub, path: string, count: number): Promise<AuditLine[]> {
  return until(async () => {
    const lines = (await auditedLines(hub)).map((line): AuditLine => JSON.parse(line))
    const own = lines.filter(({ uri }) => uri.startsWith(path))
    return own.length >= count && own
  })
}

async function closed(server: Server): Promise<void> {
  if ('closeAllConnections' in server && typeof server.closeAllConnections === 'function') {
    server.closeAllConnections()
  }
  server.close()
}

async function grant(
  { admin }: TestHub,
  { user, verbs, resource }: { user: string; verbs: readonly string[]; resource: string },
): Promise<void> {
  const signal = AbortSignal.timeout(120_000)
  const name = `${user}-${resource.replace('/', '-')}`
  const rule = { apiGroups: ['cluster.karmada.io'], resources: [resource], resourceNames: ['edge'] }
  await admin.resource(resources.clusterRoles).create(
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRole',
      metadata: { name },
      rules: [{ ...rule, verbs: [...verbs] }],
    },
    signal,
  )
  await admin.resource(resources.clusterRoleBindings).create(
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
      subjects: [{ apiGroup: rbac, kind: 'User', name: user }],
    },
    signal,
  )
}

/** Uses the raw path, which a client library would normalize. */
function replyOf(options: RequestOptions, body: string | undefined): Promise<ServiceReply> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest({ ...options, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const { statusCode: status = 0, headers, trailers } = response
        resolve({ status, headers, text: Buffer.concat(chunks).toString(), trailers })
      })
    })
    request.on('upgrade', (response, socket) => {
      socket.destroy()
      resolve({ status: 101, headers: response.headers, text: '', trailers: {} })
    })
    request.on('error', reject)
    request.end(body)
  })
}
