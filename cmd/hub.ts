import { join } from 'node:path'
import {
  openAuditLog,
  type AuditSink,
  type ExtraAccess,
  type Objects,
  type Route,
  type UserInfo,
} from '@skerry/apiserver'
import { runAll, type Task } from '@skerry/base'
import { createCluster } from '@skerry/client'
import { csrSigningController, rootCaPublisher, runControllers } from '@skerry/controllers'
import {
  agentAuthorizer,
  agentCsrApprovingController,
  agentRestriction,
  clusterController,
  clusterIdentity,
  clusterKind,
  clusterNamespace,
  clusterProxyRoutes,
  clusterResource,
  createClusterAudit,
  createClusterMonitor,
  refuseRevoked,
  tunnelRoute,
  type TunnelStates,
} from '@skerry/karmada'
import { TunnelRegistry } from '@skerry/tunnel'
import type { AccessFlags } from './access-flags.ts'
import { openBackupSocket } from './backup-socket.ts'
import { startControlPlane, type ControlPlane } from './control-plane.ts'
import { openDataDirectory } from './data-directory.ts'
import type { KindFlags } from './kind-flags.ts'
import { servedKinds } from './served-kinds.ts'
import { hostAddresses, isAddress } from './host-addresses.ts'
import { cutRevokedAgents } from './revoked-agents.ts'
import { reportReady, type RoleContext } from './role-context.ts'
import { writeAdminKubeconfig } from './admin-kubeconfig.ts'
import { version } from './version.ts'

export interface HubOptions {
  dataDir: string
  bindAddress: string
  port: number
  /** Names and addresses beside the machine's own that users and agents use. */
  extraSans: readonly string[]
  access?: AccessFlags
  /** Absent: the stable versions. */
  served?: KindFlags
}

export interface Hub extends AsyncDisposable {
  readonly plane: ControlPlane
  readonly tunnels: TunnelRegistry
  /** Until the signal aborts. */
  run(signal: AbortSignal): Promise<void>
}

/** By how much the signer lets certificates begin before they are issued. */
const backdateMs = 5 * 60_000
const yearSeconds = 365 * 24 * 3_600

/** What is needed of kube-controller-manager's: a hub has objects and identities, but no workloads. */
const hubControllers = [
  'namespace-controller',
  'serviceaccount-controller',
  'garbage-collector-controller',
  'certificatesigningrequest-cleaner-controller',
]

/** The fleet's API server and the far end of every tunnel, until the signal aborts. */
export async function runHub(options: HubOptions, context: RoleContext): Promise<void> {
  await openDataDirectory(options.dataDir)
  await using hub = await startHub(options, context)
  const { plane } = hub
  const adminFile = {
    path: join(options.dataDir, 'admin.kubeconfig'),
    name: 'hub',
    port: Number(new URL(plane.server.address).port),
  }
  await writeAdminKubeconfig(plane.pki, adminFile)
  plane.onRenewed((pki) => writeAdminKubeconfig(pki, adminFile))
  await using _backups = await openBackupSocket(join(options.dataDir, 'backup.sock'), plane.store)
  reportReady()
  context.log.info('Hub serves', { address: plane.server.address, version })
  await hub.run(context.signal)
}

/** Opens everything; the port answers when it resolves. */
export async function startHub(options: HubOptions, context: RoleContext): Promise<Hub> {
  await using stack = new AsyncDisposableStack()
  const { clock, log } = context
  const listeners = new Set<(cluster: string) => void>()
  const tunnels = new TunnelRegistry(
    { onChange: (cluster) => listeners.forEach((listener) => listener(cluster)) },
    clock,
  )
  const auditLog = stack.use(await openAuditLog(join(options.dataDir, 'audit.log'), {}, log))
  const audit = createClusterAudit({
    write: (line) => auditLog.write(line),
    monotonicMs: () => clock.monotonicMs(),
  })
  const access: { objects?: Objects } = {}
  const isKnown = (name: string): boolean =>
    access.objects?.get(clusterResource, '', name) !== undefined
  const plane = stack.use(
    await startPlane(options, context, {
      routes: [
        ...clusterProxyRoutes({ tunnels, audit, clock, isKnown }),
        tunnelRoute({ tunnels, clock, log }),
      ],
      audit: audit.sink,
      onObjects: (objects) => (access.objects = objects),
    }),
  )
  stack.defer(() => tunnels.closeAll('the hub stops'))
  await ensureClusterNamespace(plane.objects)
  const states = tunnelStates(tunnels, listeners)
  const owned = stack.move()
  return {
    plane,
    tunnels,
    run: (signal) => runAll(signal, hubTasks({ plane, tunnels, states }, context)),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

interface PlaneParts {
  routes: readonly Route[]
  audit: AuditSink
  onObjects: (objects: Objects) => void
}

async function startPlane(
  options: HubOptions,
  context: RoleContext,
  { routes, audit, onObjects }: PlaneParts,
): Promise<ControlPlane> {
  const kinds = await servedKinds(options.served ?? {})
  const { extraSans, access = {} } = options
  return startControlPlane(
    {
      directory: options.dataDir,
      authorityName: 'skerry-hub',
      bindAddress: options.bindAddress,
      port: options.port,
      dnsNames: ['localhost', ...extraSans.filter((san) => !isAddress(san))],
      ipAddresses: ['127.0.0.1', ...hostAddresses(), ...extraSans.filter(isAddress)],
      kinds: [...kinds, clusterKind(kinds)],
      routes,
      audit,
      access,
      extraAccess: (objects) => {
        onObjects(objects)
        return hubAccess(objects)
      },
    },
    context,
  )
}

function hubAccess(objects: Objects): ExtraAccess {
  return {
    authorizers: [agentAuthorizer],
    admission: [agentRestriction, clusterIdentity(objects)],
    certificates: (usual) => refuseRevoked(usual, objects, { backdateMs }),
  }
}

/** Leases are written there from the first agent on. */
async function ensureClusterNamespace(objects: Objects): Promise<void> {
  const namespaces = { group: '', resource: 'namespaces' }
  if (objects.get(namespaces, '', clusterNamespace)) return
  const metadata = { name: clusterNamespace }
  await objects.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata })
}

function tunnelStates(
  tunnels: TunnelRegistry,
  listeners: Set<(cluster: string) => void>,
): TunnelStates {
  return {
    of(cluster) {
      const lastEnd = tunnels.lastEnd(cluster)
      const isConnected = tunnels.sessions(cluster).some(({ isOpen }) => isOpen)
      return lastEnd ? { isConnected, lastEnd } : { isConnected }
    },
    onChange(listener) {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
  }
}

interface HubParts {
  plane: ControlPlane
  tunnels: TunnelRegistry
  states: TunnelStates
}

function hubTasks({ plane, tunnels, states }: HubParts, context: RoleContext): Task[] {
  const { clock, random, log } = context
  const cluster = createCluster(plane.server.transport(hubUser), {
    log,
    clock,
    userAgent: `skerry-hub/${version}`,
  })
  const { authority } = plane.pki
  const configured = [
    rootCaPublisher(authority.certificatePem),
    csrSigningController({
      clientAuthority: authority,
      servingAuthority: authority,
      durationSecondsMax: yearSeconds,
    }),
    agentCsrApprovingController,
    clusterController,
    createClusterMonitor(states),
  ]
  return [
    plane.upkeep,
    (scope) => runControllers(hubControllers, { cluster, clock, random, log, configured }, scope),
    (scope) => cutRevokedAgents(cluster, tunnels, { clock, random, log }, scope),
  ]
}

const hubUser: UserInfo = Object.freeze({
  name: 'system:skerry-hub',
  groups: Object.freeze(['system:masters', 'system:authenticated']),
  extra: Object.freeze({}),
})
