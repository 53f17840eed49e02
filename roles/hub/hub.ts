import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { isStatusError } from '@skerry/api'
import {
  goOnPastUnreadable,
  openAuditLog,
  type AuditSink,
  type ExtraAccess,
  type Objects,
  type Route,
  type TrustedProxies,
  type UserInfo,
} from '@skerry/apiserver'
import { linkedSignal, runAll, type Task } from '@skerry/base'
import { createCluster } from '@skerry/client'
import { runAsLeader } from '@skerry/controller-runtime'
import { csrSigningController, rootCaPublisher, runControllers } from '@skerry/controllers'
import { createPushController, pushAdmission, type PushPlans } from '@skerry/cluster-agent'
import {
  clusterAccessKind,
  clusterKind,
  clusterRegistrationKind,
  clusterNamespace,
  clusterResource,
  trafficContractKind,
} from '@skerry/fleet-kinds'
import {
  fleetAdmission,
  karmadaKinds,
  type KarmadaKindsOptions,
  type TenantRules,
} from '@skerry/karmada-kinds'
import {
  clusterProxyRoutes,
  createBrokenTunnelAudit,
  createClusterAudit,
  createDelegation,
  limitUserStreams,
  replicaAuthorizer,
  runTrafficContracts,
  serviceRoutes,
  type OnBrokenTunnel,
  type TrafficContractsParts,
} from '@skerry/gateway'
import {
  agentSerialPrefix,
  agentAuthorizer,
  agentLimitsPlugin,
  agentRestriction,
  clusterController,
  clusterIdentity,
  createClusterMonitor,
  agentRolesRoute,
  karmadaAgentAuthorizer,
  karmadaAgentFields,
  karmadaAgentSecrets,
  karmadaAgentTarget,
  roleGeneratorAuthorizer,
  refuseRevoked,
  virtualParentPlugin,
  virtualWorksPlugin,
} from '@skerry/membership'
import type { TunnelRegistry } from '@skerry/tunnel'
import type { AccessFlags } from '../control-plane/access-options.ts'
import { writeAdminKubeconfig } from '../control-plane/admin-kubeconfig.ts'
import { startControlPlane, type ControlPlane } from '../control-plane/control-plane.ts'
import type { EtcdFlags } from '../control-plane/etcd-options.ts'
import { localServer } from '../control-plane/local-server.ts'
import { type KindFlags, servedKinds } from '../control-plane/served-kinds.ts'
import { openDataDirectory } from '../runtime/data-directory.ts'
import {
  allHostAddresses,
  hostAddresses,
  isAddress,
  withoutBrackets,
} from '../runtime/host-addresses.ts'
import { reportReady, type RoleContext } from '../runtime/role-context.ts'
import { openRoleSocket } from '../runtime/role-socket.ts'
import { version } from '../runtime/version.ts'
import { createHubCarrier, type HubCarrier } from './hub-carrier.ts'
import { ensureClusterInfo } from './hub-cluster-info.ts'
import { fleetControllers } from './hub-fleet.ts'
import { createHubLogin, type HubLogin } from './hub-login.ts'
import { backdateMs, createHubRegistration, type HubRegistration } from './hub-registration.ts'
import { createHubState } from './hub-state.ts'
import { createHubTunnels, type HubTunnels } from './hub-tunnels.ts'
import type { LoginFlags } from './login-options.ts'
import { registrationDefaults, type RegistrationRules } from './registration-rules.ts'
import { cutRevokedAgents } from './revoked-agents.ts'
import { createUserAccess, type UserAccess } from './user-access.ts'

export interface HubOptions {
  dataDir: string
  bindAddress: string
  port: number
  /** Names and addresses that users and agents use, in addition to the machine's own. */
  extraSans: readonly string[]
  access?: AccessFlags
  /** The domain under which each cluster has its own host name. If omitted, clusters have paths only. */
  clusterDomain?: string | undefined
  /** If it has servers, the state is there, and several hubs on it form one. */
  etcd?: EtcdFlags
  /** Another replica's pki/replica.key; only for the first start next to others. */
  replicaKeyFile?: string | undefined
  /** The address at which the other replicas reach this one. If omitted, its first address. */
  advertiseAddress?: string | undefined
  /** If omitted, the stable versions. */
  served?: KindFlags
  /** If omitted, tokens suffice, and agents may return for a month after their certificate's expiry. */
  registration?: RegistrationRules
  /** True: agents may come inside WebSockets, past boxes that open TLS. */
  allowInspectedTls?: boolean | undefined
  /** The balancers whose PROXY protocol headers name a connection's source. */
  proxies?: TrustedProxies | undefined
  /** If omitted, the hub does not publish where its users log in. */
  login?: LoginFlags
  /** True: a missing store is made again, empty. */
  newStore?: boolean | undefined
  /** True moves objects off clusters whose taints they do not tolerate, or where they are unhealthy. */
  failover?: boolean | undefined
  /** True dials clusters in push mode, at the addresses in their Clusters. */
  push?: boolean | undefined
  /** If omitted, the writers of a namespace reach nothing outside of it. */
  rules?: TenantRules
  /** The interval at which it checks these clusters. Default: every 10 s. */
  pushPeriodMs?: number
  /** The interval at which it checks whether open watches and sessions may continue. Default: every 10 s. */
  accessCheckMs?: number
}

export interface Hub extends AsyncDisposable {
  readonly plane: ControlPlane
  /** The tunnels that end in this process. */
  readonly tunnels: TunnelRegistry
  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void>
}

/**
 * The interval of access checks; a second check follows, so a lost right ends a connection within this time.
 * A check of 10,000 watches takes about a second.
 */
const accessCheckMs = 10_000
const yearSeconds = 365 * 24 * 3_600

/**
 * The controllers of kube-controller-manager that a hub needs: it has objects and identities, but no
 * workloads.
 */
const hubControllers = [
  'namespace-controller',
  'serviceaccount-controller',
  'garbage-collector-controller',
  'certificatesigningrequest-cleaner-controller',
  'bootstrap-signer-controller',
  'token-cleaner-controller',
]

/** The fleet's API server and the far end of every tunnel, until the signal aborts. */
export async function runHub(options: HubOptions, context: RoleContext): Promise<void> {
  await openDataDirectory(options.dataDir)
  await using hub = await startHub(options, context)
  const { plane } = hub
  const adminFile = {
    path: join(options.dataDir, 'admin.kubeconfig'),
    name: 'hub',
    server: localServer(plane.server.address),
  }
  await writeAdminKubeconfig(plane.pki, adminFile)
  plane.onRenewed((pki) => writeAdminKubeconfig(pki, adminFile))
  await using _requests = await openRoleSocket(join(options.dataDir, 'backup.sock'), plane)
  reportReady()
  context.log.info('Hub serves', { address: plane.server.address, version })
  await hub.run(context.signal)
}

/** Opens everything; the port answers when it resolves. */
export async function startHub(options: HubOptions, context: RoleContext): Promise<Hub> {
  await using stack = new AsyncDisposableStack()
  const { clock, random, log } = context
  const tunnels = createHubTunnels(context)
  const access: { objects?: Objects; onBroken?: OnBrokenTunnel } = {}
  const state = stack.use(createHubState(tunnels, { options, access }, context))
  const auditPath = join(options.dataDir, 'audit.log')
  const auditLog = stack.use(await openAuditLog(auditPath, state, { log, clock }))
  const write = (line: string): void => auditLog.write(line)
  const audit = createClusterAudit({ write, monotonicMs: () => clock.monotonicMs() })
  access.onBroken = createBrokenTunnelAudit({ write, clock })
  const isKnown = (name: string): boolean =>
    access.objects?.get(clusterResource, '', name) !== undefined
  const registration = createHubRegistration(registrationRules(options), context)
  const users = createUserAccess({ clusterDomain: options.clusterDomain }, clock)
  const login = createHubLogin(options.login ?? {}, clock)
  const carrier = createHubCarrier(options.allowInspectedTls === true, context)
  const serving = linkedSignal(context.signal)
  stack.defer(() => serving.abort(new Error('The hub has stopped')))
  const plane = stack.use(
    await startPlane(
      options,
      { ...context, signal: serving.signal },
      {
        registration,
        users,
        login,
        carrier,
        routes: [
          users.route,
          ...login.routes,
          ...carrier.routes,
          ...registration.routes,
          agentRolesRoute,
          ...serviceRoutes({
            ...state,
            audit,
            clock,
            isKnown,
            clusterDomain: options.clusterDomain,
          }),
          ...limitUserStreams(clusterProxyRoutes({ ...state, audit, clock, random, log, isKnown })),
          ...state.routes,
          ...(hasReplicas(options) ? [tunnels.route] : []),
        ],
        audit: audit.sink,
        onObjects: (objects) => (access.objects = objects),
      },
    ),
  )
  // From here on the server runs until its users have ended: a leader releases its lease.
  serving[Symbol.dispose]()
  registration.attach(plane, hubUser)
  login.attach(plane)
  carrier.attach(plane)
  stack.defer(() => tunnels.own.closeAll('the hub stops'))
  await ensureClusterNamespace(plane.objects)
  await goOnPastUnreadable(log, () => ensureClusterInfo(plane))
  const replicating = hasReplicas(options)
    ? await tunnels.join(plane, addressForReplicas(options, plane))
    : undefined
  const parts = { ...state, options, plane, tunnels, registration, replicating }
  const owned = stack.move()
  return {
    plane,
    tunnels: tunnels.own,
    run: (signal) => runAll(signal, hubTasks(parts, context)),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

function registrationRules({ registration = registrationDefaults, allowInspectedTls }: HubOptions) {
  return { ...registration, takesInspectedTls: allowInspectedTls === true }
}

/** Reports whether the state is in etcd, so that another replica may start next to this one. */
function hasReplicas({ etcd }: HubOptions): boolean {
  return (etcd?.etcdServers ?? []).length > 0
}

function addressForReplicas(options: HubOptions, plane: ControlPlane): string {
  const { port } = new URL(plane.server.address)
  const isAny = /^(0\.0\.0\.0|::)$/.test(options.bindAddress)
  const host =
    options.advertiseAddress ?? (isAny ? (hostAddresses()[0] ?? '127.0.0.1') : options.bindAddress)
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`
}

interface PlaneParts {
  registration: HubRegistration
  users: UserAccess
  login: HubLogin
  carrier: HubCarrier
  routes: readonly Route[]
  audit: AuditSink
  onObjects: (objects: Objects) => void
}

async function startPlane(
  options: HubOptions,
  context: RoleContext,
  { routes, audit, onObjects, ...parts }: PlaneParts,
): Promise<ControlPlane> {
  const { users } = parts
  const kinds = await servedKinds(options.served ?? {})
  const { access = {}, etcd = {}, advertiseAddress } = options
  const given = [...options.extraSans, ...(advertiseAddress ? [advertiseAddress] : [])]
  const extraSans = given.map(withoutBrackets)
  return startControlPlane(
    {
      directory: options.dataDir,
      newStore: options.newStore,
      etcd,
      ...(hasReplicas(options) ? { replicas: { keyFile: options.replicaKeyFile } } : {}),
      authorityName: 'skerry-hub',
      bindAddress: options.bindAddress,
      port: options.port,
      proxies: options.proxies,
      dnsNames: ['localhost', ...users.dnsNames, ...extraSans.filter((san) => !isAddress(san))],
      ipAddresses: ['127.0.0.1', '::1', ...allHostAddresses(), ...extraSans.filter(isAddress)],
      kinds: [
        ...kinds,
        clusterKind(kinds),
        clusterRegistrationKind(kinds),
        clusterAccessKind(kinds),
        trafficContractKind(kinds),
        ...(await karmadaKinds(kinds, kindOptions(options))),
      ],
      routes,
      retarget: (request) => karmadaAgentTarget({ ...request, target: users.retarget(request) }),
      accessCheckMs: options.accessCheckMs ?? accessCheckMs,
      audit,
      access,
      extraAccess: (objects) => {
        onObjects(objects)
        return hubAccess(objects, { ...parts, push: options.push })
      },
    },
    context,
  )
}

function kindOptions({ failover, rules = {} }: HubOptions): KarmadaKindsOptions {
  return { allowsNoExecute: failover === true, rules }
}

function hubAccess(
  objects: Objects,
  {
    registration,
    users,
    login,
    carrier,
    push,
  }: Pick<PlaneParts, 'registration' | 'users' | 'login' | 'carrier'> & Pick<HubOptions, 'push'>,
): ExtraAccess {
  const { authorizers: ofAgents, callers, reviews } = registration
  const delegation = createDelegation()
  const { authorizer: byLabel, furtherRules, tokens, admission } = users.open(objects)
  return {
    callers,
    reviews,
    tokens,
    furtherRules,
    authorizers: [
      agentAuthorizer(objects),
      replicaAuthorizer,
      karmadaAgentAuthorizer(objects),
      roleGeneratorAuthorizer(objects),
      ...ofAgents,
      byLabel,
      delegation.authorizer,
      ...login.authorizers,
      ...carrier.authorizers,
    ],
    impersonation: delegation.impersonation,
    admission: (authorizer) => [
      virtualParentPlugin,
      virtualWorksPlugin(objects),
      karmadaAgentFields,
      karmadaAgentSecrets,
      pushAdmission(push === true, authorizer),
      agentRestriction(objects),
      agentLimitsPlugin,
      clusterIdentity(objects),
      admission(authorizer),
      ...fleetAdmission(objects),
    ],
    certificates: (usual) => refuseRevoked(usual, objects, { backdateMs }),
  }
}

/** Creates the namespace in which leases are written from the first agent on. */
async function ensureClusterNamespace(objects: Objects): Promise<void> {
  const namespaces = { group: '', resource: 'namespaces' }
  if (objects.get(namespaces, '', clusterNamespace)) return
  const metadata = { name: clusterNamespace }
  try {
    await objects.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata })
  } catch (error) {
    // Another replica starts at the same time.
    if (!isStatusError(error, 'AlreadyExists')) throw error
  }
}

interface HubParts {
  plane: ControlPlane
  tunnels: HubTunnels
  registration: HubRegistration
  /** If undefined, this hub is alone. */
  replicating: Task | undefined
  options: HubOptions
  planOf: PushPlans
}

function hubTasks({ replicating, ...parts }: HubParts, context: RoleContext): Task[] {
  const { clock, random, log } = context
  const { plane, tunnels } = parts
  const deps = { clock, random, log }
  const cluster = createCluster(plane.server.transport(hubUser), {
    log,
    clock,
    userAgent: `skerry-hub/${version}`,
  })
  const control: Task = async (scope) => {
    const configured = configuredControllers(parts)
    await runControllers(hubControllers, { cluster, ...deps, configured }, scope)
    scope.throwIfAborted()
  }
  const identity = `${hostname()}_${randomUUID()}`
  const election = { namespace: 'kube-system', name: 'skerry-hub', identity }
  return [
    plane.upkeep,
    (scope) => cutRevokedAgents(cluster, tunnels.own, deps, scope),
    (scope) => {
      const { own, states } = tunnels
      const parts: TrafficContractsParts = {
        cluster,
        tunnels: own,
        onTunnel: (listener) => states.onChange(listener),
      }
      return runTrafficContracts(parts, deps, scope)
    },
    ...(replicating
      ? [
          replicating,
          (scope: AbortSignal) => runAsLeader(election, { cluster, ...deps }, scope, control),
        ]
      : [control]),
  ]
}

function configuredControllers({
  plane,
  tunnels,
  registration,
  options,
  planOf,
}: Omit<HubParts, 'replicating'>) {
  const { authority } = plane.pki
  const { pushPeriodMs, failover, rules } = options
  return [
    rootCaPublisher(authority.certificatePem),
    csrSigningController({
      clientAuthority: authority,
      servingAuthority: authority,
      durationSecondsMax: yearSeconds,
      reckonedMs: () => plane.time.reckonedMs(),
      serialPrefixOf: ({ commonName: name, organizations: groups = [] }) =>
        agentSerialPrefix(plane.objects, { name, groups }),
    }),
    registration.approving,
    clusterController,
    createClusterMonitor(tunnels.states),
    createPushController(planOf, pushPeriodMs ? { statusPeriodMs: pushPeriodMs } : {}),
    ...fleetControllers({ isOn: failover === true }, rules),
  ]
}

const hubUser: UserInfo = Object.freeze({
  name: 'system:skerry-hub',
  groups: Object.freeze(['system:masters', 'system:authenticated']),
  extra: Object.freeze({}),
})
