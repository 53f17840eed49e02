/** An edge cluster with two virtual clusters in it, and their views, for tests. */
import { silentLogger, systemClock, systemRandom } from '@skerry/base'
import {
  createCluster,
  createHttpsTransport,
  fixedCredentials,
  type ClusterClient,
  type Transport,
} from '@skerry/client'
import { startTestApiServer, type TestApiServer, until } from '@skerry/testing'
import type { TunnelHandler, TunnelHeaders, TunnelResponse } from '@skerry/tunnel'
import { createApiForwarder } from '@skerry/cluster-agent'
import { groupLabel, virtualNamespaceLabels } from '@skerry/fleet-kinds'
import type { ImpersonationPolicy } from '@skerry/membership'
import { createMapping } from '../../mapping/mapping.ts'
import { createNamespaceRule } from '../../mapping/namespace-rule.ts'
import type { EdgeNames } from '../edge-names.ts'
import type { ViewedCluster } from '../view-handler.ts'
import { towardsVirtual } from '../virtual-request.ts'
import { createVirtualViews } from '../virtual-views.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger }

export interface Asker {
  readonly user: string
  readonly groups?: readonly string[]
}

export interface Call {
  readonly method?: string
  readonly as?: Asker
  readonly body?: unknown
  readonly headers?: TunnelHeaders
}

export interface Told {
  readonly status: number
  readonly headers: TunnelHeaders
  readonly text: string
  // Tests look into answers of every kind.
  readonly body: Answer
}

/** An answer into which a test looks. */
export interface Answer {
  readonly [field: string]: Answer & string & number & boolean & readonly (Answer & string)[]
}

export interface ViewScene extends AsyncDisposable {
  readonly edge: TestApiServer
  /** The edge itself, as its administrator. */
  readonly local: ClusterClient
  readonly handler: TunnelHandler
  readonly names: EdgeNames
  /**
   * Sends a request to a virtual cluster as the hub does; as the edge's administrator if the call names no
   * user.
   */
  open(cluster: string, path: string, call?: Call, signal?: AbortSignal): Promise<TunnelResponse>
  /** The same, with the whole answer. */
  ask(cluster: string, path: string, call?: Call): Promise<Told>
  /** The edge's name of a virtual cluster's namespace. */
  member(cluster: string, namespace: string): string
}

const root: Asker = { user: 'root', groups: ['system:masters'] }
const virtualClusters = ['east', 'west'] as const

export async function startViewScene(
  policy?: ImpersonationPolicy,
  through = (transport: Transport): Transport => transport,
): Promise<ViewScene> {
  await using stack = new AsyncDisposableStack()
  const edge = stack.use(await startTestApiServer({ withAccess: true }))
  const { ca, cert, key } = edge.credentials
  const api = {
    server: edge.url,
    certificateAuthority: ca,
    credentials: fixedCredentials({ certificate: cert, key }),
  }
  const transport = stack.use(createHttpsTransport(api, { clock: systemClock }))
  const local = createCluster(through(transport), { ...deps, userAgent: 'test' })
  const views = createVirtualViews({ local, ...(policy ? { policy } : {}), ...deps })
  for (const name of virtualClusters) views.set(viewOf(name))
  const stop = new AbortController()
  const running = views.run(stop.signal).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error
  })
  stack.defer(async () => {
    stop.abort(new Error('the test is over'))
    await running
  })
  const forwarder = createApiForwarder(
    { api, ...(policy ? { policy } : {}) },
    { clock: systemClock, log: silentLogger },
  )
  const handler = views.handler(stack.use(forwarder))
  const open: ViewScene['open'] = async (cluster, path, call = {}, signal) => {
    const { method = 'GET', as = root, body, headers = {} } = call
    const bytes = body === undefined ? undefined : bytesOf(body)
    const request = {
      method,
      path,
      headers: {
        'impersonate-user': as.user,
        ...(as.groups ? { 'impersonate-group': as.groups } : {}),
        ...(bytes ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(bytes ? { body: bytes } : {}),
    }
    const isGiven = signal ?? AbortSignal.timeout(20_000)
    return handler.onRequest(towardsVirtual(request, cluster), isGiven)
  }
  const owned = stack.move()
  return {
    edge,
    local,
    handler,
    names: views.edge,
    open,
    async ask(cluster, path, call) {
      const { status, headers, body } = await open(cluster, path, call)
      const text = await textOf(body)
      return { status, headers, text, body: text.startsWith('{') ? JSON.parse(text) : {} }
    },
    member: (cluster, namespace) => viewOf(cluster).group.namespaces.toMember(namespace),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

function viewOf(clusterName: string): ViewedCluster {
  const group = { clusterName, namespaces: createNamespaceRule({ clusterName }) }
  return { group, mapping: createMapping(group) }
}

function bytesOf(body: unknown): Uint8Array {
  return body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body))
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

/** The namespace as an agent makes it for its virtual cluster, once the views know it. */
export async function addNamespace(
  scene: ViewScene,
  cluster: string,
  namespace: string,
): Promise<string> {
  const name = scene.member(cluster, namespace)
  const labels = {
    [virtualNamespaceLabels.cluster]: cluster,
    [virtualNamespaceLabels.namespace]: namespace,
  }
  await scene.edge.objects.create(
    { group: '', resource: 'namespaces' },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } },
  )
  await until(async () => scene.names.ownerOf(name) !== undefined)
  return name
}

/** A node of a virtual cluster's group; of none when it names none. */
export async function addNode({ edge }: ViewScene, name: string, cluster?: string): Promise<void> {
  const labels: Record<string, string> = cluster === undefined ? {} : { [groupLabel]: cluster }
  await edge.objects.create(
    { group: '', resource: 'nodes' },
    { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } },
  )
}
