import { join } from 'node:path'
import { linkedSignal, runAll } from '@skerry/base'
import { createCluster } from '@skerry/client'
import { PushForwarders, pushPlans } from '@skerry/cluster-agent'
import { createHubMetrics } from '@skerry/gateway'
import type { AccessOptions } from '../control-plane/access-options.ts'
import { writeAdminKubeconfig } from '../control-plane/admin-kubeconfig.ts'
import { startControlPlane, type ControlPlane } from '../control-plane/control-plane.ts'
import type { ControlPlaneOptions } from '../control-plane/control-plane-options.ts'
import type { ListeningOptions } from '../control-plane/listening-options.ts'
import { localServer } from '../control-plane/local-server.ts'
import { tasksOf, type OpenPlane } from '../control-plane/plane-part.ts'
import type { KindFlags } from '../control-plane/served-kinds.ts'
import { isInEtcd, type StoreOptions } from '../control-plane/store-options.ts'
import { openDataDirectory } from '../runtime/data-directory.ts'
import { allHostAddresses } from '../runtime/host-addresses.ts'
import { reportReady, type RoleContext } from '../runtime/role-context.ts'
import { openRoleSocket } from '../runtime/role-socket.ts'
import type { MachinePrograms } from '../program/program-for-machines.ts'
import { version } from '../runtime/version.ts'
import { openHubAudit } from './contract/hub-audit.ts'
import { createHubConnections, type HubConnections } from './contract/hub-connections.ts'
import type { HubPart, OpenHub } from './contract/hub-part.ts'
import { hubUser } from './contract/hub-user.ts'
import type { LoginFlags } from './contract/login-flags.ts'
import { agentTunnels } from './parts/agent-tunnels.ts'
import { carrier, type CarrierOptions } from './parts/carrier.ts'
import { certificates } from './parts/certificates.ts'
import { clusterProxy } from './parts/cluster-proxy.ts'
import { clusters } from './parts/clusters.ts'
import { webConsole } from './parts/console.ts'
import { controllers } from './parts/controllers.ts'
import { fleet, type FleetOptions } from './parts/fleet.ts'
import { hostNames } from './parts/host-names.ts'
import { karmadaAgents } from './parts/karmada-agents.ts'
import { certificateRenewal, login } from './parts/login.ts'
import { program } from './parts/program.ts'
import { provisioning } from './parts/provisioning.ts'
import { pushMode, type PushOptions } from './parts/push-mode.ts'
import { registration } from './parts/registration.ts'
import { replicas, type ReplicaOptions } from './parts/replicas.ts'
import { traffic } from './parts/traffic.ts'
import { users } from './parts/users.ts'
import { virtualParents } from './parts/virtual-parents.ts'
import type { RegistrationRules } from './registration/registration-rules.ts'
import { wayToCluster } from './way-to-cluster.ts'
import { hubBounds } from './limits-table.ts'

interface HubListening extends ListeningOptions {
  /** The domain under which each cluster has its own host name. If omitted, clusters have paths only. */
  clusterDomain?: string | undefined
  /** The directory of the web console's files. If omitted, they are next to the program. */
  consoleDirectory?: string | undefined
}

export interface HubOptions {
  dataDir: string
  listening: HubListening
  /** If it has etcd servers, the state is there, and several hubs on it form one. */
  store?: StoreOptions
  /** Rights of open watches and sessions are checked every 10 s unless `checkMs` is set. */
  access?: AccessOptions
  served?: KindFlags
  registration?: RegistrationRules
  carrier?: CarrierOptions
  login?: LoginFlags
  push?: PushOptions
  fleet?: FleetOptions
  /** The program for machines. If omitted, what the hub itself runs from. */
  machines?: MachinePrograms
  replicas?: ReplicaOptions
}

/** Lists everything that a hub is, by subject. The first route, plugin or authorizer that fits is asked first. */
function hubParts(options: HubOptions): readonly HubPart[] {
  const { carrier: carried = {}, listening, store = {} } = options
  const hasReplicas = isInEtcd(store)
  const programOptions = {
    ...options.machines,
    archiveDirectory: join(options.dataDir, 'programs'),
    role: 'hub' as const,
  }
  const parts = [
    hostNames(listening),
    virtualParents(),
    karmadaAgents(),
    pushMode(options.push ?? {}),
    clusters(),
    registration({
      rules: options.registration,
      takesInspectedTls: carried.allowInspectedTls === true,
    }),
    agentTunnels(),
    users(listening),
    clusterProxy(listening),
    login(options.login ?? {}),
    certificateRenewal(options.login ?? {}),
    webConsole({ login: options.login, directory: listening.consoleDirectory }),
    carrier(carried),
    certificates(),
    traffic(),
    fleet(options.fleet ?? {}),
    provisioning(programOptions),
    program(programOptions),
    replicas({ ...options.replicas, bindAddress: listening.bindAddress, hasReplicas }),
  ]
  return [...parts, controllers({ hasReplicas }, parts)]
}

export interface Hub extends AsyncDisposable {
  readonly plane: ControlPlane
  readonly connections: HubConnections
  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void>
}

/** Runs the fleet's API server and the far end of every tunnel until the signal aborts. */
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
  const { clock, log } = context
  const connections = createHubConnections(context)
  const metrics = createHubMetrics(context.metrics, connections)
  const forwarders = stack.use(new PushForwarders({ clock, log }))
  const audit = stack.use(await openHubAudit(join(options.dataDir, 'audit.log'), metrics, context))
  const pushes = options.push?.isOn === true
  const shared = { connections, metrics, audit, forwarders, pushes }
  const parts = hubParts(options)
  const open = (plane: OpenPlane): OpenHub => openHub({ ...plane, context }, shared)
  const serving = linkedSignal(context.signal)
  stack.defer(() => serving.abort(new Error('The hub has stopped')))
  const scope = { ...context, signal: serving.signal }
  const plane = stack.use(await startControlPlane(planeOptions(options), { parts, open }, scope))
  // From here on the server runs until its users have ended: a leader releases its lease.
  serving[Symbol.dispose]()
  stack.defer(() => connections.own.closeAll('the hub stops'))
  const tasks = [plane.upkeep, ...(await tasksOf(plane.parts, plane.opened))]
  const owned = stack.move()
  return {
    plane,
    connections,
    run: (signal) => runAll(signal, tasks),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

interface Shared extends Pick<OpenHub, 'connections' | 'metrics' | 'audit'> {
  readonly forwarders: PushForwarders
  /** True: clusters in push mode are dialled. */
  readonly pushes: boolean
}

function openHub(plane: OpenPlane, { forwarders, pushes, ...shared }: Shared): OpenHub {
  const { objects, server, context } = plane
  const { clock, log } = context
  const { clusters: connected } = shared.connections
  const planOf = pushPlans(pushes, objects)
  const userAgent = `skerry-hub/${version}`
  const cluster = createCluster(server.transport(hubUser), { log, clock, userAgent })
  const ways = { clusters: connected, objects, planOf, forwarders, metrics: shared.metrics }
  return { ...plane, ...shared, cluster, planOf, way: wayToCluster(ways, context) }
}

const { accessCheckMs } = hubBounds.hub

function planeOptions(options: HubOptions): ControlPlaneOptions {
  const { listening, store = {}, access, served } = options
  return {
    directory: options.dataDir,
    authorityName: 'skerry-hub',
    listening,
    sans: () => ['localhost', '127.0.0.1', '::1', ...allHostAddresses()],
    store,
    replicas: isInEtcd(store) ? { keyFile: options.replicas?.replicaKeyFile } : undefined,
    access: { checkMs: accessCheckMs, ...access },
    served,
  }
}
