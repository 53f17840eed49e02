/** A hub and an edge cluster in this process, with the agent between them, for tests. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createDefaultAccess,
  ensureBootstrapObjects,
  type ApiServerLimits,
  type TrustedProxies,
} from '@skerry/apiserver'
import {
  connectByTcp,
  createMetrics,
  linkedSignal,
  silentLogger,
  systemClock,
  systemRandom,
  type Logger,
  type Metrics,
  type Tracer,
} from '@skerry/base'
import { issueClientCertificate } from '@skerry/bootstrap'
import {
  createCluster,
  createHttpsTransport,
  fixedCredentials,
  type ClusterClient,
  type HttpsTransport,
  type HttpsTransportConfig,
} from '@skerry/client'
import { clusterResource } from '@skerry/fleet-kinds'
import type { ImpersonationPolicy } from '@skerry/membership'
import { generateKeyPair, spkiHash, type Subject } from '@skerry/pki'
import { administrator, startTestApiServer, type TestApiServer } from '../test-api-server.ts'
import { createClusterToken } from '../../roles/admin/hub-join-token.ts'
import { runAgent, type AgentListeners, type AgentOptions } from '../../roles/agent/agent.ts'
import type { AccessOptions } from '../../roles/control-plane/access-options.ts'
import type { EtcdFlags } from '../../roles/control-plane/etcd-options.ts'
import { startHub, type Hub, type HubOptions } from '../../roles/hub/hub.ts'
import type { LoginFlags } from '../../roles/hub/contract/login-flags.ts'
import type { RegistrationRules } from '../../roles/hub/registration/registration-rules.ts'
import type { MachinePrograms } from '../../roles/program/program-for-machines.ts'
import type { RoleContext } from '../../roles/runtime/role-context.ts'
import {
  ensureAgentObjects,
  localAgentUser,
  type AgentDuties,
} from '../../roles/site/objects/agent-objects.ts'

export interface TestHub extends AsyncDisposable {
  readonly hub: Hub
  readonly url: string
  readonly directory: string
  readonly caPem: string
  readonly context: RoleContext
  /** The hub's API as its administrator, in-process. */
  readonly admin: ClusterClient
  /** Returns the hub over the socket, as this user by client certificate. */
  as(subject: Subject, path?: string): Promise<HttpsTransport>
  credentialsOf(subject: Subject): Promise<{ certificate: string; key: string }>
}

const deps = { clock: systemClock, random: systemRandom, log: silentLogger }
const nowhere = new AbortController().signal

export interface TestHubOptions {
  /** The parent of its data directory. If omitted, the directory of temporary files. */
  parent?: string
  etcd?: EtcdFlags
  /** The key file of another replica. */
  replicaKeyFile?: string
  registration?: RegistrationRules
  /** The domain under which each cluster has a host name. */
  clusterDomain?: string
  /** The tracer of the hub, and of the agents that are started with it. */
  tracer?: Tracer
  /** Default: none. */
  log?: Logger
  access?: AccessOptions
  login?: LoginFlags
  /** The directory of the console's files. If omitted, the hub has none. */
  consoleDirectory?: string
  /** The program for machines. Default: none, as the test runs from its sources. */
  machines?: MachinePrograms
  accessCheckMs?: number
  allowInspectedTls?: boolean
  /** True: it dials clusters in push mode. */
  push?: boolean
  pushPeriodMs?: number
  /** True: objects leave clusters that are tainted. */
  failover?: boolean
  /** Addresses whose connections begin with a PROXY header. */
  proxies?: TrustedProxies
  /** Default: 127.0.0.1. */
  bindAddress?: string
}

export async function startTestHub({
  parent = tmpdir(),
  etcd,
  replicaKeyFile,
  log = silentLogger,
  tracer,
  bindAddress = '127.0.0.1',
  proxies,
  allowInspectedTls,
  push,
  pushPeriodMs,
  failover,
  access,
  accessCheckMs: checkMs,
  clusterDomain,
  consoleDirectory,
  ...given
}: TestHubOptions = {}): Promise<TestHub> {
  await using stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(parent, 'skerry-hub-'))
  stack.defer(() => rm(directory, { recursive: true }))
  const stop = linkedSignal(nowhere)
  const traced = tracer ? { tracer } : {}
  const context = { ...deps, log, metrics: createMetrics(), signal: stop.signal, ...traced }
  const options: HubOptions = {
    ...given,
    dataDir: directory,
    listening: { bindAddress, port: 0, proxies, clusterDomain, consoleDirectory },
    store: { etcd },
    replicas: { replicaKeyFile },
    carrier: { allowInspectedTls },
    push: { isOn: push, statusPeriodMs: pushPeriodMs },
    fleet: { failover },
    access: { ...access, ...(checkMs === undefined ? {} : { checkMs }) },
  }
  const hub = stack.use(await startHub(options, context))
  const running = hub.run(stop.signal)
  stack.defer(async () => {
    stop.abort(new Error('the test is over'))
    await running
  })
  const { plane } = hub
  const url = plane.server.address
  const caPem = plane.pki.authority.certificatePem
  const credentialsOf = async (subject: Subject) => {
    const issued = await issueClientCertificate(plane.pki.authority, { subject }, systemClock)
    return { certificate: issued.certificatePem, key: issued.privateKeyPem }
  }
  const owned = stack.move()
  return {
    hub,
    url,
    directory,
    caPem,
    context,
    admin: createCluster(plane.server.transport(administrator), { ...deps, userAgent: 'test' }),
    credentialsOf,
    async as(subject, path = '') {
      const credentials = fixedCredentials(await credentialsOf(subject))
      return createHttpsTransport(
        {
          server: `${url}${path}`,
          certificateAuthority: caPem,
          credentials,
        },
        deps,
      )
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** An API server with RBAC, and the agent's rights in it. */
export async function startTestEdge(
  duties: AgentDuties = {},
  limits: Partial<ApiServerLimits> = {},
): Promise<TestApiServer & { api: HttpsTransportConfig }> {
  const { privateKeyPem } = await generateKeyPair()
  const serviceAccounts = { issuer: 'https://edge', signingKeyPem: privateKeyPem }
  const server = await startTestApiServer({
    access: createDefaultAccess({ serviceAccounts }, deps),
    namespaces: [],
    limits,
  })
  await ensureBootstrapObjects(server.objects)
  await ensureAgentObjects(server.objects, duties)
  const subject = { commonName: localAgentUser }
  const issued = await issueClientCertificate(server.authority, { subject }, systemClock)
  const credentials = { certificate: issued.certificatePem, key: issued.privateKeyPem }
  const api = {
    server: server.url,
    certificateAuthority: server.credentials.ca,
    credentials: fixedCredentials(credentials),
  }
  return Object.assign(server, { api })
}

export interface TestAgent extends AsyncDisposable {
  /** Resolves at the next tunnel that opens. */
  connected(): Promise<void>
  /** The reasons why it is not connected, most recent last. */
  readonly refusals: readonly string[]
  readonly metrics: Metrics
  readonly ended: Promise<void>
}

export interface TestAgentOptions {
  name: string
  api: HttpsTransportConfig
  /** The replica that it dials. If omitted, the fleet's own. */
  hub?: string
  /** The directory that keeps its identity between two starts. If omitted, a directory of its own. */
  directory?: string
  /** An existing token. If omitted, a fresh one; an empty string means none, because it has an identity. */
  token?: string
  policy?: ImpersonationPolicy
  services?: AgentOptions['services']
  dials?: AgentOptions['dials']
  /** If omitted, the addresses of this machine's interfaces. */
  ownAddresses?: AgentOptions['ownAddresses']
  appliesWorks?: boolean
  hasVirtualClusters?: boolean
  edgeApps?: readonly string[]
  place?: AgentOptions['place']
  labels?: Readonly<Record<string, string>>
  /** Default: the fleet's. */
  log?: Logger
  /** Connects to the hub. If omitted, over TCP. */
  connect?: AgentOptions['connect']
  onOpen?: AgentListeners['onOpen']
  /** Sets the virtual clusters for which it answers. If omitted, none. */
  onViews?: AgentListeners['onViews']
}

/** Registers with a fresh token and stays until disposed. */
export async function startTestAgent(
  fleet: TestHub,
  options: TestAgentOptions,
): Promise<TestAgent> {
  const directory = options.directory ?? join(fleet.directory, `agent-${options.name}`)
  const token = options.token ?? (await freshToken(fleet, options.name))
  const stop = linkedSignal(nowhere)
  const metrics = createMetrics()
  const refusals: string[] = []
  const waiting: (() => void)[] = []
  const running = runAgent(
    {
      directory,
      hub: options.hub ?? fleet.url,
      clusterName: options.name,
      enrolment: {
        tokenFile: undefined,
        tokenText: token === '' ? undefined : token,
        caHash: spkiHash(fleet.caPem),
      },
      api: options.api,
      ...(options.policy ? { policy: options.policy } : {}),
      ...(options.connect ? { connect: options.connect } : {}),
      place: { ...options.place, ...(options.labels ? { labels: options.labels } : {}) },
      ...(options.services ? { services: options.services } : {}),
      ...(options.dials ? { dials: options.dials } : {}),
      ...(options.ownAddresses ? { ownAddresses: options.ownAddresses } : {}),
      appliesWorks: options.appliesWorks,
      edgeApps: options.edgeApps,
      hasVirtualClusters: options.hasVirtualClusters,
      listeners: {
        ...(options.onOpen ? { onOpen: options.onOpen } : {}),
        ...(options.onViews ? { onViews: options.onViews } : {}),
        onTunnel: (state) => {
          if (state.state === 'waiting') refusals.push(state.reason)
          if (state.state === 'connected') waiting.splice(0).forEach((resolve) => resolve())
        },
      },
    },
    { ...fleet.context, log: options.log ?? fleet.context.log, metrics, signal: stop.signal },
  )
  const ended = running.catch((error: unknown) => {
    if (!stop.signal.aborted) throw error
  })
  return {
    connected: () => Promise.race([new Promise<void>((resolve) => waiting.push(resolve)), ended]),
    refusals,
    metrics,
    ended,
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the test is over'))
      await ended
    },
  }
}

/**
 * A way over TCP. While it is held, no new connection gets through, so an agent that was cut off stays
 * offline.
 */
export interface HeldWay {
  readonly connect: NonNullable<AgentOptions['connect']>
  /** Holds the way until disposed. */
  hold(): Disposable
}

export function heldWay(): HeldWay {
  const connect = connectByTcp({ timeoutMs: 4_000, clock: systemClock })
  let free = Promise.resolve()
  return {
    async connect(to, signal) {
      await free
      return connect(to, signal)
    },
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>()
      free = promise
      return { [Symbol.dispose]: resolve }
    },
  }
}

/** Creates a Cluster that no agent has joined yet. */
export async function registerCluster(
  fleet: Pick<TestHub, 'admin'>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { group, version } = clusterResource
  const object = { apiVersion: `${group}/${version}`, kind: 'Cluster', metadata: { name, labels } }
  const signal = AbortSignal.timeout(120_000)
  await fleet.admin
    .resource(clusterResource)
    .create({ ...object, spec: { syncMode: 'Pull' } }, signal)
}

/** Creates a token for one registration under this name. */
export async function freshToken(fleet: TestHub, clusterName: string): Promise<string> {
  const { url: server, caPem } = fleet
  const asked = { clusterName, server, caPem, ttlSeconds: 600 }
  return (await createClusterToken(fleet.admin, asked, { clock: systemClock }, nowhere)).token
}

/** Waits until the hub shows the cluster as wanted. */
export async function untilCluster(
  fleet: TestHub,
  name: string,
  isWanted: (conditions: Readonly<Record<string, string>>) => boolean,
): Promise<void> {
  const signal = AbortSignal.timeout(120_000)
  const clusters = fleet.admin.resource(clusterResource)
  const { items, metadata } = await clusters.list({}, signal)
  const isDone = (object: { metadata: { name?: string }; status?: { conditions?: Condition[] } }) =>
    object.metadata.name === name &&
    isWanted(Object.fromEntries((object.status?.conditions ?? []).map((c) => [c.type, c.status])))
  if (items.some(isDone)) return
  const request = { resourceVersion: metadata.resourceVersion ?? '' }
  for await (const event of clusters.watch(request, signal)) {
    if (event.type !== 'BOOKMARK' && isDone(event.object)) return
  }
}

interface Condition {
  type: string
  status: string
}
