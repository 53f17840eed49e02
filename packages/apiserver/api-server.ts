import type { Duplex } from 'node:stream'
import type { Kind } from '@skerry/api'
import { runAll, type Clock, type Logger, type Metrics, type Random, type Task } from '@skerry/base'
import type { Transport } from '@skerry/client'
import type { Store } from '@skerry/store'
import type { AuthenticatedUser, Authenticator, UserInfo } from './contract/access.ts'
import {
  createAggregation,
  type Aggregation,
  type AggregationOptions,
} from './aggregation/aggregation.ts'
import type { LocalApi } from './aggregation/aggregated-api.ts'
import type { AdmissionPlugin } from './contract/admission.ts'
import { runPolicyStatus, validatingPolicies } from './admission-policies/policy-status.ts'
import type { AuditSink } from './contract/audit.ts'
import { auditUnreadable } from './request/audit-unreadable.ts'
import type { AuditTrail } from './audit/audit-trail.ts'
import { levelDumpRoutes } from './flow-control/dump-levels.ts'
import { createFlowControl, type FlowControl } from './flow-control/flow-control.ts'
import { keepFlowControlObjects } from './flow-control/flow-control-objects.ts'
import type { RequestInfo } from './contract/request-info.ts'
import { WatchCache } from './cache/watch-cache.ts'
import { createCustomKinds, type CustomKinds } from './crd/custom-kinds.ts'
import type { ComponentFaults } from './handlers/component-statuses.ts'
import type { Route } from './contract/route.ts'
import { createDispatcher } from './request/dispatch.ts'
import type { HealthChecks } from './handlers/health.ts'
import type { HandlerDeps } from './handlers/resource-call.ts'
import type { ApiAnswer, ApiRequest } from './contract/exchange.ts'
import { createHttpServer, type HttpServer, type TlsFiles } from './http/http-server.ts'
import { RequestBodies } from './http/request-bodies.ts'
import { UnreadBytes } from './http/unread-bytes.ts'
import type { TrustedProxies } from './http/proxied-connections.ts'
import { inProcessTransport } from './http/in-process-transport.ts'
import { createLastingRequests } from './request/lasting-requests.ts'
import { apiServerLimits, type ApiServerLimits } from './limits-table.ts'
import type { Objects } from './contract/objects.ts'
import { createPipeline, type Pipeline, type RequestRecords } from './request/pipeline.ts'
import { LeasePool } from './registry/lease-pool.ts'
import { ServedKinds } from './registry/served-kinds.ts'
import { createServerObjects } from './registry/server-objects.ts'
import { createRequestMetrics } from './request/request-metrics.ts'
import type { Access } from './request/server-access.ts'
import type { RequestTracing } from './tracing/request-trace.ts'
import { YamlReader } from './yaml/yaml-reader.ts'
import { repairNodePorts } from './service-addresses/node-port-repair.ts'
import {
  createServiceAllocator,
  type ServiceAddressOptions,
} from './service-addresses/service-allocator.ts'

/** The port of a server, and its connections. */
export interface ListeningServer {
  readonly tls: TlsFiles
  /** The address that `listen` binds. Default: 127.0.0.1. */
  readonly address?: string
  /** Default: 0, any free port. */
  readonly port?: number
  /**
   * The proxies whose connections begin with a PROXY header with the client's address. If omitted,
   * there are none.
   */
  readonly proxies?: TrustedProxies | undefined
}

/** The records that a server keeps of its requests. */
export interface ServerRecords {
  /** Writes audit.k8s.io Events. */
  readonly auditTrail?: AuditTrail | undefined
  /** If omitted, nothing is traced. */
  readonly tracing?: RequestTracing | undefined
}

/** The health that a server reports. */
export interface ServerHealth {
  /** Health checks in addition to those that every server has, by name. */
  readonly checks?: HealthChecks | undefined
  /** Returns the unhealthy parts of the control plane and why, for ComponentStatus. */
  readonly componentFaults?: ComponentFaults | undefined
}

export interface ApiServerOptions<S extends Serving = Serving> {
  readonly kinds: readonly Kind[]
  readonly listening: ListeningServer
  readonly limits?: Partial<ApiServerLimits>
  /** Called once, after all objects are in memory and before anything is served. */
  readonly serving: (server: LoadedServer) => S
  /** Additional fields of GET /version. */
  readonly version?: Readonly<Record<string, string>>
  readonly health?: ServerHealth
  readonly records?: ServerRecords
  /**
   * If true, FlowSchemas and PriorityLevelConfigurations decide which requests wait. Default: a
   * limit of requests in flight.
   */
  readonly hasFlowControl?: boolean
  /**
   * The interval at which the rights of open watches and sessions are checked again; a client that
   * lost its right is disconnected within that time. If omitted, they are never checked again, as
   * upstream.
   */
  readonly accessCheckMs?: number | undefined
  /** If false, policy statuses do not list expressions that do not fit their types. Default: true. */
  readonly checksPolicyTypes?: boolean
  /** Gives services addresses. If omitted, they get none, as on a hub. */
  readonly services?: ServiceAddressOptions
  /** If omitted, APIServices are ordinary objects, and no other server is asked. */
  readonly aggregation?: AggregationOptions
}

/** The parts of a server that are built from its own objects. */
export interface Serving {
  readonly access: Access
  /** Additional path prefixes. A route is called after authentication and authorization. */
  readonly routes?: readonly Route[]
  /** Group versions that this process serves in addition to the registry's. */
  readonly localApis?: readonly LocalApi[]
  /** Returns the target that a request means, e.g. by its host name. May refuse with a StatusError. */
  readonly retarget?: ((request: ApiRequest) => string) | undefined
  readonly audit?: AuditSink | undefined
}

/** A server that has loaded its objects. Its `address`, `transport` and `take` work once it serves. */
export type LoadedServer = Pick<
  ApiServer,
  'objects' | 'address' | 'transport' | 'take' | 'repairNodePorts' | 'answer' | 'authenticate'
>

export interface ApiServerDeps {
  readonly store: Store
  /** For a store that encrypts: resolves to true if the same value would now be stored differently. */
  readonly isStale?: (key: string) => Promise<boolean>
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly metrics: Metrics
  /** Receives the number of bytes in each buffer that is dropped after use, e.g. a piece of a list. */
  readonly onBytes?: ((bytes: number) => void) | undefined
}

export interface ApiServer<S extends Serving = Serving> extends AsyncDisposable {
  /** The value that the option `serving` returned. */
  readonly serving: S
  /** Resolves once the port is open. */
  listen(): Promise<void>
  /** Serves a connection from this address that did not come through the port. It starts with TLS. */
  take(connection: Duplex, address: string): void
  /** `https://host:port`, or an empty text before `listen`. */
  readonly address: string
  readonly objects: Objects
  /**
   * Returns a transport for callers in this process, which act as this user. The checks are the
   * same, without a socket.
   */
  transport(user: UserInfo): Transport
  /**
   * Answers a request of a client, as if it had come on a connection of its own. For requests that come inside of
   * another one. Never rejects.
   */
  answer(request: ApiRequest): Promise<ApiAnswer>
  /** Authenticates as for a request. Throws Unauthorized; resolves to the anonymous user without credentials. */
  authenticate: Authenticator['authenticate']
  /**
   * Makes the records of node ports say what the services say. One of several servers on a store does it from
   * time to time.
   */
  repairNodePorts(signal: AbortSignal): Promise<void>
  /** The number of bytes in memory that clients have not read yet. */
  unreadBytes(): number
  /** Uses renewed certificates for new connections. */
  setTls(tls: TlsFiles): void
  /** Rejects if the server can no longer do its work, e.g. because the store is gone. */
  readonly failed: Promise<never>
  /** Tries again to read values that could not be decrypted. Call it when the keys have changed. */
  retryUnreadable(): Promise<void>
}

/**
 * Resolves once all objects are in memory and the API can be called in this process; `listen` opens
 * the port.
 */
export async function createApiServer<S extends Serving>(
  options: ApiServerOptions<S>,
  deps: ApiServerDeps,
  signal: AbortSignal,
): Promise<ApiServer<S>> {
  const limits = { ...apiServerLimits, ...options.limits }
  const stop = new AbortController()
  const onAbort = (): void => stop.abort(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  const { store, clock, log } = deps
  const cache = new WatchCache({ store, clock, log, limits })
  await cache.load()
  const registry = createRegistry(options, { ...deps, cache, limits })
  const objects = createServerObjects(registry, stop.signal)
  const state = { address: '' }
  const parts = { state, pipeline: () => pipeline, server: () => server, access: () => access }
  const repair = (scope: AbortSignal): Promise<void> => repairNodePorts({ ...deps, cache }, scope)
  const loaded = loadedServer(objects, { ...parts, repair })
  const serving = options.serving(loaded)
  const { access, localApis } = serving
  const customKinds = customKindsOf(registry, objects, access, deps)
  registry.admission.push(...access.admission)
  const aggregation = aggregationOf(options, { ...deps, registry, objects, localApis })
  const flowControl = options.hasFlowControl
    ? flowControlOf({ registry, objects, limits }, deps)
    : undefined
  const dispatcher = createDispatcher({
    registry,
    objects,
    access,
    ...dispatched({ ...options, ...serving }, flowControl),
    metrics: deps.metrics,
    version: { ...versionDefaults, ...options.version },
    address: () => state.address.replace('https://', ''),
    customSchema: (kind) => customKinds.customSchema(kind),
    aggregation,
  })
  const lasting = lastingOf(options, deps)
  const pipeline = createPipeline({
    ...deps,
    ...dispatcher,
    access,
    limits,
    bodies: registry.bodies,
    flowControl,
    lasting,
    records: recordsOf({ ...options, ...serving }, deps),
    paths: { ...dispatcher.paths, retarget: serving.retarget },
  })
  const server = httpServerOf({ ...options, ...serving }, { ...deps, ...registry }, pipeline)
  const work = runAll(stop.signal, [
    ...registryTasks(registry, customKinds),
    ...(options.checksPolicyTypes === false ? [] : policyStatusTasks(registry, objects, deps)),
    ...[aggregation, lasting].map((part) => async (scope: AbortSignal) => part?.run(scope)),
    ...(flowControl ? flowControlTasks(flowControl, { objects, limits, ...deps }) : []),
  ])
  return Object.assign(loaded, {
    serving,
    listen: () => listen(server, state, options.listening),
    unreadBytes: () => registry.unread.bytes,
    setTls: (tls: TlsFiles) => server.setTls(tls),
    failed: failureOf(work),
    retryUnreadable: () => cache.retryUnreadable(),
    async [Symbol.asyncDispose]() {
      signal.removeEventListener('abort', onAbort)
      stop.abort(new Error('API server is closed'))
      await closed(server, registry, work)
    },
  })
}

function loadedServer(
  objects: Objects,
  parts: {
    readonly state: { readonly address: string }
    readonly pipeline: () => Pipeline
    readonly server: () => HttpServer
    readonly repair: (signal: AbortSignal) => Promise<void>
    readonly access: () => Access
  },
): LoadedServer {
  return {
    objects,
    repairNodePorts: parts.repair,
    get address() {
      return parts.state.address
    },
    transport: (user) => inProcessTransport(user, (request) => parts.pipeline().onRequest(request)),
    take: (connection, address) => parts.server().take(connection, address),
    answer: (request) => parts.pipeline().onRequest(request),
    async authenticate(credentials, signal) {
      let found: AuthenticatedUser | undefined
      for (const each of parts.access().authenticators)
        found ??= await each.authenticate(credentials, signal)
      return found
    },
  }
}

async function closed(server: HttpServer, { yaml, bodies }: HandlerDeps, work: Promise<void>) {
  await server[Symbol.asyncDispose]()
  yaml[Symbol.dispose]()
  bodies[Symbol.dispose]()
  await work.catch(() => undefined)
}

function httpServerOf(
  options: ServedOptions,
  { limits, unread, ...deps }: ApiServerDeps & { limits: ApiServerLimits; unread: UnreadBytes },
  pipeline: Pipeline,
): HttpServer {
  const { listening, access } = options
  const { tls, proxies } = listening
  const { clock, log, onBytes } = deps
  const onUnreadable = auditUnreadable({ ...deps, ...forAudit(options), access })
  const own = { tls, proxies, limits, clock, log, unread, onBytes, onUnreadable }
  return createHttpServer({ ...own, ...pipeline })
}

type ServedOptions = ApiServerOptions & Serving

function recordsOf(options: ServedOptions, { metrics }: ApiServerDeps): RequestRecords {
  return { metrics: createRequestMetrics(metrics), ...forAudit(options) }
}

function forAudit({
  audit = () => undefined,
  records: { auditTrail, tracing } = {},
}: ServedOptions) {
  return { audit, trail: auditTrail, tracing }
}

function aggregationOf(
  { aggregation }: ApiServerOptions,
  deps: Parameters<typeof createAggregation>[1],
): Aggregation | undefined {
  return aggregation && createAggregation(aggregation, deps)
}

function lastingOf({ accessCheckMs }: ApiServerOptions, deps: ApiServerDeps) {
  return accessCheckMs === undefined
    ? undefined
    : createLastingRequests({ everyMs: accessCheckMs }, deps)
}

function dispatched(
  { routes = [], health: { checks, componentFaults } = {} }: ServedOptions,
  flowControl: FlowControl | undefined,
) {
  const dumps = flowControl ? levelDumpRoutes(flowControl) : []
  return { routes: [...routes, ...dumps], healthChecks: checks, componentFaults }
}

function flowControlOf(
  {
    registry,
    objects,
    limits,
  }: { registry: HandlerDeps; objects: Objects; limits: ApiServerLimits },
  deps: ApiServerDeps,
): FlowControl {
  const options = {
    seatsMax: limits.readsInFlightMax + limits.writesInFlightMax,
    waitMs: limits.turnWaitMs,
    shareMs: limits.seatSharingMs,
    objectsOf: (info: RequestInfo): number => {
      const reader = registry.kinds.find(info.resource)
      return reader ? registry.cache.resource(reader.storage).size : 0
    },
    watchersOf: (info: RequestInfo): number => {
      const reader = registry.kinds.find(info.resource)
      return reader ? registry.cache.resource(reader.storage).listenerCount : 0
    },
  }
  return createFlowControl(objects, options, deps)
}

function flowControlTasks(
  flowControl: FlowControl,
  { objects, limits, clock, log }: ApiServerDeps & { objects: Objects; limits: ApiServerLimits },
): Task[] {
  const keeping = { clock, log, lookMs: limits.seatSharingMs }
  return [
    (scope) => flowControl.run(scope),
    (scope) => keepFlowControlObjects(objects, keeping, scope),
  ]
}

function customKindsOf(
  registry: HandlerDeps,
  objects: Objects,
  { converterOf }: Access,
  { clock, log }: ApiServerDeps,
): CustomKinds {
  const parts = { registry, objects, clock, log }
  return createCustomKinds({ ...parts, ...(converterOf ? { converterOf } : {}) })
}

/** Returns the tasks that keep the cache, and everything derived from its objects, up to date. */
function registryTasks({ cache }: HandlerDeps, customKinds: CustomKinds): Task[] {
  return [
    (scope) => cache.run(scope),
    (scope) => cache.runBookmarks(scope),
    (scope) => customKinds.run(scope),
  ]
}

/** Returns tasks only if policies are served and evaluated. */
function policyStatusTasks(
  { kinds, cache, admission }: HandlerDeps,
  objects: Objects,
  { clock, log }: ApiServerDeps,
): Task[] {
  if (!admission.some(({ name }) => name === 'ValidatingAdmissionPolicy')) return []
  if (!kinds.findStored(validatingPolicies)) return []
  const deps = { objects, cache, clock, log, kinds: () => kinds.all() }
  return [(signal) => runPolicyStatus(deps, signal)]
}

type MutableRegistry = HandlerDeps & { readonly admission: AdmissionPlugin[] }

function createRegistry(
  options: ApiServerOptions,
  deps: ApiServerDeps & { cache: WatchCache; limits: ApiServerLimits },
): MutableRegistry {
  const { store, clock, random, log, cache, limits } = deps
  return {
    store,
    cache,
    kinds: new ServedKinds(options.kinds),
    clock,
    random,
    log,
    limits,
    yaml: new YamlReader({ limits, clock, log }),
    admission: [],
    interceptors: options.services
      ? { 'core/services': createServiceAllocator(options.services, { cache, clock, random }) }
      : {},
    leases: new LeasePool(store, clock),
    isStale: deps.isStale,
    watchCount: { open: 0 },
    unread: new UnreadBytes(limits),
    bodies: new RequestBodies(limits, clock),
  }
}

const versionDefaults = Object.freeze({
  major: '1',
  minor: '36',
  emulationMajor: '1',
  emulationMinor: '36',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '35',
  gitVersion: 'v1.36.3+skerry',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: `node${process.version}`,
  compiler: 'v8',
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
})

async function listen(
  server: HttpServer,
  state: { address: string },
  { address = '127.0.0.1', port = 0 }: ListeningServer,
): Promise<void> {
  const bound = await server.listen(address, port)
  const host = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address
  state.address = `https://${host}:${bound.port}`
}

/** Never resolves; an unobserved failure must not crash the process twice. */
function failureOf(work: Promise<void>): Promise<never> {
  const failure = new Promise<never>((_resolve, reject) => {
    work.catch(reject)
  })
  failure.catch(() => undefined)
  return failure
}
