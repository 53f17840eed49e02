import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Kind } from '@skerry/api'
import { runAll, type Task } from '@skerry/base'
import {
  createDirectDial,
  createMetricsApi,
  ensureMetricsApiService,
  type UserInfo,
} from '@skerry/apiserver'
import { createCluster, createEventSink } from '@skerry/client'
import { createInformerSet } from '@skerry/controller-runtime'
import type { AgentPlace, AllowedService } from '@skerry/fleet-kinds'
import type { ImpersonationPolicy } from '@skerry/membership'
import {
  clusterTrustBundlePublisher,
  csrSigningController,
  nodeIpamController,
  rootCaPublisher,
  runControllers,
  serviceAccountTokenController,
} from '@skerry/controllers'
import { runScheduler, type SchedulerConfiguration } from '@skerry/scheduler'
import { servedPodPeers } from '@skerry/service-proxy'
import type { AccessFlags } from '../control-plane/access-options.ts'
import { writeAdminKubeconfig, type AdminFile } from '../control-plane/admin-kubeconfig.ts'
import { startControlPlane, type ControlPlane } from '../control-plane/control-plane.ts'
import type { EtcdFlags } from '../control-plane/etcd-options.ts'
import { localServer } from '../control-plane/local-server.ts'
import { type KindFlags, servedKinds } from '../control-plane/served-kinds.ts'
import { openDataDirectory } from '../runtime/data-directory.ts'
import { addressOf, hostAddresses, isAddress } from '../runtime/host-addresses.ts'
import { reportReady, type RoleContext } from '../runtime/role-context.ts'
import { openRoleSocket } from '../runtime/role-socket.ts'
import { version } from '../runtime/version.ts'
import type { WayFlags } from '../runtime/way-options.ts'
import { localAgentUser } from './agent-objects.ts'
import { ensureSiteObjects, type SiteAddresses } from './site-objects.ts'

export interface SiteOptions {
  dataDir: string
  name: string
  bindAddress: string
  port: number
  /** Names and addresses that clients use, in addition to the machine's own. */
  extraSans: readonly string[]
  clusterCidr: string
  serviceCidr: string
  clusterDomain: string
  /** The URL https://host:port of the hub in whose fleet this site is. If omitted, it is on its own. */
  hub?: string | undefined
  /** Both needed the first time only. */
  hubTokenFile?: string | undefined
  hubCaHash?: string | undefined
  /** The users whom the agent may impersonate. If omitted, everybody whom the hub names. */
  agentPolicy?: ImpersonationPolicy | undefined
  /** Its place and labels, for its Cluster on the hub. */
  place?: AgentPlace
  /** The services that the hub may reach. If omitted, none. */
  allowService?: readonly AllowedService[]
  /** The Works that the hub has for this cluster are applied to it. */
  applyWorks?: boolean | undefined
  /** Whether groups of its nodes are virtual clusters. */
  virtualClusters?: boolean | undefined
  /** The way to the hub. If omitted, direct, or as the environment sets it. */
  wayToHub?: WayFlags
  /** True if another program's controllers work on this API server. */
  disableControllerManager?: boolean | undefined
  disableScheduler?: boolean | undefined
  access?: AccessFlags
  /** If omitted, the state is in the data directory. */
  etcd?: EtcdFlags
  /** If omitted, the stable versions. */
  served?: KindFlags
  /** A KubeSchedulerConfiguration. If omitted, upstream's single profile. */
  schedulerConfig?: string | undefined
  /** True: a missing store is made again, empty. */
  newStore?: boolean | undefined
  /** True: metrics.k8s.io is left to a metrics-server. */
  disableMetricsApi?: boolean | undefined
  requestheaderClientCaFile?: string | undefined
  requestheaderAllowedNames?: readonly string[] | undefined
  requestheaderUsernameHeaders?: readonly string[] | undefined
  requestheaderUidHeaders?: readonly string[] | undefined
  requestheaderGroupHeaders?: readonly string[] | undefined
  requestheaderExtraHeadersPrefix?: readonly string[] | undefined
}

const elsewhere = 'not part of this process'
const yearSeconds = 365 * 24 * 3_600

/** A whole control plane in this process, until the signal aborts. */
export async function runSite(options: SiteOptions, context: RoleContext): Promise<void> {
  await openDataDirectory(options.dataDir)
  const addresses = hostAddresses()
  const apiServiceIp = addressOf(options.serviceCidr, 1)
  await using plane = await startControlPlane(
    {
      directory: options.dataDir,
      newStore: options.newStore,
      authorityName: `skerry-site-${options.name}`,
      bindAddress: options.bindAddress,
      port: options.port,
      dnsNames: [
        'localhost',
        ...serviceNames(options.clusterDomain),
        ...options.extraSans.filter((san) => !isAddress(san)),
      ],
      ipAddresses: [
        '127.0.0.1',
        apiServiceIp,
        ...addresses,
        ...options.extraSans.filter(isAddress),
      ],
      kinds: withPodPeers(await servedKinds(options.served ?? {})),
      componentFaults: {
        ...(options.disableScheduler ? { scheduler: elsewhere } : {}),
        ...(options.disableControllerManager ? { 'controller-manager': elsewhere } : {}),
      },
      serviceCidr: options.serviceCidr,
      // Its own agent passes the hub's trace context on, and the hub checks whom to trust.
      trustsTraceOf: ({ name }) => name === localAgentUser,
      access: options.access ?? {},
      etcd: options.etcd ?? {},
      dial: (pki) =>
        createDirectDial(() => ({
          ...pki().kubeletClient,
          kubeletAuthorityPem: pki().authority.certificatePem,
        })),
      frontProxy: {
        clientCaFile: options.requestheaderClientCaFile,
        allowedNames: options.requestheaderAllowedNames,
        usernameHeaders: options.requestheaderUsernameHeaders,
        uidHeaders: options.requestheaderUidHeaders,
        groupHeaders: options.requestheaderGroupHeaders,
        extraHeadersPrefixes: options.requestheaderExtraHeadersPrefix,
      },
      localApis: (objects, dial) => (dial ? [createMetricsApi({ ...context, objects, dial })] : []),
    },
    context,
  )
  const port = Number(new URL(plane.server.address).port || 443)
  const siteAddresses = siteAddressesOf(options, { advertiseAddress: addresses[0], port })
  await ensureSiteObjects(plane.objects, siteAddresses, context.log)
  await ensureMetricsApiService(plane.objects, options.disableMetricsApi !== true)
  const adminFile = adminFileOf(options, plane)
  await writeAdminKubeconfig(plane.pki, adminFile)
  plane.onRenewed((pki) => writeAdminKubeconfig(pki, adminFile))
  await using _requests = await openRoleSocket(join(options.dataDir, 'backup.sock'), plane)
  reportReady()
  reportServing(plane.server.address, addresses, context)
  const scheduling = await schedulerConfiguration(options)
  await runAll(context.signal, [
    plane.upkeep,
    ...controllerTasks({ ...options, scheduling }, plane, context),
    ...(await agentTasks(options, plane, context)),
  ])
}

function siteAddressesOf(
  { serviceCidr }: SiteOptions,
  served: Pick<SiteAddresses, 'advertiseAddress' | 'port'>,
): SiteAddresses {
  const apiServiceIp = addressOf(serviceCidr, 1)
  return { ...served, serviceCidr, apiServiceIp, dnsServiceIp: addressOf(serviceCidr, 10) }
}

/** Adds the only form in which nodes read pods of other nodes. */
function withPodPeers(builtin: readonly Kind[]): Kind[] {
  return [...builtin, servedPodPeers(builtin)]
}

function reportServing(
  address: string,
  ownAddresses: readonly string[],
  { log }: Pick<RoleContext, 'log'>,
): void {
  if (ownAddresses.length === 0) {
    const reason =
      'this machine has no IPv4 address except loopback; restart the site when it has one'
    log.info('Service kubernetes has no endpoint', { reason })
  }
  log.info('Site serves', { address, version })
}

function adminFileOf({ dataDir, name }: SiteOptions, { server }: ControlPlane): AdminFile {
  return { path: join(dataDir, 'admin.kubeconfig'), name, server: localServer(server.address) }
}

/** Imported only by a site that has a hub. */
async function agentTasks(
  {
    dataDir,
    name,
    hub,
    hubTokenFile,
    hubCaHash,
    wayToHub = {},
    allowService: services = [],
    applyWorks: appliesWorks,
    virtualClusters: hasVirtualClusters,
    agentPolicy: policy,
    place,
  }: SiteOptions,
  plane: ControlPlane,
  context: RoleContext,
): Promise<Task[]> {
  if (hub === undefined) return []
  const { siteAgentTask } = await import('./site-agent.ts')
  const given = { dataDir, name, hub, hubTokenFile, hubCaHash, services, policy, place }
  const duties = { appliesWorks, hasVirtualClusters }
  return [siteAgentTask({ ...wayToHub, ...given, ...duties }, plane, context)]
}

/** Read and checked before anything runs; what reads it is imported only when there is one. */
async function schedulerConfiguration({
  schedulerConfig,
}: SiteOptions): Promise<{ configuration?: SchedulerConfiguration }> {
  if (schedulerConfig === undefined) return {}
  const [{ readFile }, { parse }, { parseSchedulerConfiguration }] = await Promise.all([
    import('node:fs/promises'),
    import('yaml'),
    import('@skerry/scheduler'),
  ])
  const document: unknown = parse(await readFile(schedulerConfig, 'utf8'))
  return { configuration: await parseSchedulerConfiguration(document) }
}

/** Runs the controllers and the scheduler on one set of informers: one copy of all objects in memory. */
function controllerTasks(
  options: SiteOptions & { scheduling: { configuration?: SchedulerConfiguration } },
  plane: ControlPlane,
  context: RoleContext,
): Task[] {
  const { disableControllerManager: noControllers, disableScheduler: noScheduler } = options
  if (noControllers === true && noScheduler === true) return []
  const { clock, random, log } = context
  const cluster = createCluster(plane.server.transport(controlPlaneUser), {
    log,
    clock,
    userAgent: `skerry-site/${version}`,
  })
  const informers = createInformerSet(cluster, { clock, random, log })
  const events = createEventSink(cluster, { clock, log })
  const shared = { cluster, informers, events, clock, random, log }
  const { authority } = plane.pki
  const configured = [
    rootCaPublisher(authority.certificatePem),
    clusterTrustBundlePublisher(authority.certificatePem),
    serviceAccountTokenController(authority.certificatePem),
    nodeIpamController({ clusterCidr: options.clusterCidr, nodeMaskSize: 24 }),
    csrSigningController({
      clientAuthority: authority,
      servingAuthority: authority,
      durationSecondsMax: yearSeconds,
      reckonedMs: () => plane.time.reckonedMs(),
    }),
  ]
  return [
    (scope) => informers.run(scope),
    (scope) => events.run(scope),
    ...(noControllers === true
      ? []
      : [(scope: AbortSignal) => runControllers('all', { ...shared, configured }, scope)]),
    ...(noScheduler === true
      ? []
      : [
          (scope: AbortSignal) =>
            runScheduler({ ...shared, host: hostname(), ...options.scheduling }, scope),
        ]),
  ]
}

/**
 * The single user of controllers and scheduler here, in system:masters, because nothing separates them in one
 * process.
 */
const controlPlaneUser: UserInfo = Object.freeze({
  name: 'system:skerry-site',
  groups: Object.freeze(['system:masters', 'system:authenticated']),
  extra: Object.freeze({}),
})

function serviceNames(clusterDomain: string): string[] {
  const inCluster = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc']
  return [...inCluster, `kubernetes.default.svc.${clusterDomain}`]
}
