import { dirname, join } from 'node:path'
import { createDirectDial } from '@skerry/apiserver'
import { linkedSignal, runAll } from '@skerry/base'
import { createCluster } from '@skerry/client'
import type { AccessOptions } from '../control-plane/access-options.ts'
import { writeAdminKubeconfig } from '../control-plane/admin-kubeconfig.ts'
import { startControlPlane } from '../control-plane/control-plane.ts'
import type { ControlPlaneOptions } from '../control-plane/control-plane-options.ts'
import type { FrontProxyOptions } from '../control-plane/front-proxy.ts'
import type { ListeningOptions } from '../control-plane/listening-options.ts'
import { localServer } from '../control-plane/local-server.ts'
import { tasksOf, type OpenPlane } from '../control-plane/plane-part.ts'
import type { KindFlags } from '../control-plane/served-kinds.ts'
import { isInEtcd, type StoreOptions } from '../control-plane/store-options.ts'
import type { MachinePrograms } from '../program/program-for-machines.ts'
import { openDataDirectory } from '../runtime/data-directory.ts'
import { hostAddresses } from '../runtime/host-addresses.ts'
import { reportReady, type RoleContext } from '../runtime/role-context.ts'
import { openRoleSocket } from '../runtime/role-socket.ts'
import { version } from '../runtime/version.ts'
import { localAgentUser } from './objects/agent-objects.ts'
import type { EmbeddedEtcdOptions } from './etcd/embedded-options.ts'
import type { EmbeddedEtcd } from './etcd/start-embedded.ts'
import { certificates } from './parts/certificates.ts'
import { controllers, type ControllersOptions } from './parts/controllers.ts'
import { edgeApps, type EdgeAppsOptions } from './parts/edge-apps.ts'
import { hubAgent } from './parts/hub-agent.ts'
import type { CommonSettings } from './masters/master-directory.ts'
import { leadership } from './parts/leadership.ts'
import { joiningMasters } from './parts/joining-masters.ts'
import type { EtcdRoleOptions, ServedEtcd } from '../etcd/serve-etcd.ts'
import { manifests } from './parts/manifests.ts'
import { masters } from './parts/masters.ts'
import { metricsApi, type MetricsApiOptions } from './parts/metrics-api.ts'
import { offlineWrites } from './parts/offline-writes.ts'
import { program } from './parts/program.ts'
import { returningNodes } from './parts/returning-nodes.ts'
import { scheduler, type SchedulerOptions } from './parts/scheduler.ts'
import { serviceBalancer } from './parts/service-balancer.ts'
import { serviceNetwork, type NetworkOptions } from './parts/service-network.ts'
import type { SiteAgentOptions } from './parts/site-agent.ts'
import { siteUser, userAgent } from './parts/site-user.ts'
import type { Units } from './parts/units.ts'
import type { OpenSite, SitePart } from './contract/site-part.ts'
import { guardLent } from './units/lent-guard.ts'

interface SiteListening extends ListeningOptions {
  /** The IPv4 address at which nodes and pods reach it. If omitted, its first address. */
  advertiseAddress?: string | undefined
}

interface SharedStoreOptions extends StoreOptions {
  /** An etcd that the site runs itself. If omitted, the state is in a file, or in the etcd that `etcd` names. */
  embedded?: EmbeddedEtcdOptions | undefined
  /** Another master's pki/replica.key; only for the first start next to others. */
  replicaKeyFile?: string | undefined
}

interface SiteAccessOptions extends AccessOptions {
  /** The time after its end in which a node's certificate still brings it back, in milliseconds. If omitted, 30 days. */
  nodeReturnGraceMs?: number | undefined
}

export interface SiteOptions {
  dataDir: string
  /** Name of the site, and of its Cluster on a hub. */
  name: string
  listening: SiteListening
  network: NetworkOptions & {
    /** `nodes`, `none`, or ranges of addresses such as 192.168.7.240-250. If omitted, nodes. */
    readonly loadBalancer?: string | undefined
  }
  /** A site with its state in etcd may have several masters. */
  store?: SharedStoreOptions
  access?: SiteAccessOptions
  served?: KindFlags
  aggregation?: AggregationOptions
  control?: ControlOptions
  /** The program for new nodes. If omitted, what the site itself runs from. */
  machines?: MachinePrograms
  /** An etcd for programs on this node, next to the site's own state. If omitted, none is served. */
  servedEtcd?: EtcdRoleOptions | undefined
  /** The agent that connects the site to a hub. If omitted, the site is on its own. */
  agent?: Omit<SiteAgentOptions, 'dataDir' | 'name'>
}

/** The work on objects that this process does itself. */
interface ControlOptions {
  controllers?: ControllersOptions
  edgeApps?: EdgeAppsOptions
  scheduler?: SchedulerOptions
  /** A directory of this machine with manifests whose objects are kept in the site. If omitted, none is followed. */
  manifestsDirectory?: string
}

/** The APIs that other servers serve through the site. */
interface AggregationOptions {
  frontProxy?: FrontProxyOptions
  metricsApi?: MetricsApiOptions
}

/** Lists everything that a site is, by subject. */
function siteParts(
  options: SiteOptions,
  { etcd, units }: { readonly etcd: EmbeddedEtcd | undefined; readonly units: Units | undefined },
): readonly SitePart[] {
  const { dataDir, name, agent } = options
  const { manifestsDirectory, ...control } = options.control ?? {}
  const { controllers: controlling = {}, scheduler: scheduling = {} } = control
  const archiveDirectory = join(dataDir, 'programs')
  // Next to the site's data, as a machine keeps them.
  const ownPackages = { directory: join(dirname(dataDir), 'packages') }
  const isShared = isInEtcd(options.store ?? {})
  const parts = [
    // Before anything is written: a master with other settings is refused.
    masters({
      ...options.listening,
      isShared,
      isMember: etcd !== undefined,
      settings: settingsOf(options),
    }),
    ...(etcd ? [joiningMasters(etcd)] : []),
    serviceNetwork({ ...options.network, name, unitBlocks: units && (() => units.fence.blocks()) }),
    serviceBalancer(options.network.loadBalancer ?? 'nodes'),
    metricsApi(options.aggregation?.metricsApi ?? {}),
    certificates(),
    returningNodes({ graceMs: options.access?.nodeReturnGraceMs }),
    scheduler(scheduling),
    edgeApps(options.control?.edgeApps ?? {}, units),
    ...(units ? [units.part] : []),
    offlineWrites(),
    ...(manifestsDirectory ? [manifests({ directory: manifestsDirectory })] : []),
    hubAgent(agent && { ...agent, dataDir, name }, isShared),
    program({ ...options.machines, archiveDirectory, ownPackages, role: 'site' }),
  ]
  const programs = {
    hasControllers: controlling.isDisabled !== true,
    hasScheduler: scheduling.isDisabled !== true,
  }
  const all = [...parts, controllers(controlling, parts)]
  return [...all, leadership({ ...programs, isShared }, all)]
}

/** A leader without the systems of another one would take their definitions away. */
function settingsOf({ name, network, control }: SiteOptions): CommonSettings {
  const systems = [...new Set(control?.edgeApps?.systems)].toSorted()
  const { clusterCidr, serviceCidr, clusterDomain, loadBalancer = 'nodes' } = network
  const { neighboursBy = 'none' } = control?.controllers ?? {}
  return {
    '--name': name,
    '--cluster-cidr': clusterCidr,
    '--service-cidr': serviceCidr,
    '--cluster-domain': clusterDomain,
    '--neighbours-by': neighboursBy,
    '--load-balancer': loadBalancer,
    '--edge-apps': systems.length === 0 ? 'none' : systems.join(','),
    // A master without it would write what others have fenced.
    '--hand-over-units': String(control?.edgeApps?.handsUnitsOver === true),
  }
}

/** Runs a whole control plane in this process until the signal aborts. */
export async function runSite(given: SiteOptions, context: RoleContext): Promise<void> {
  await openDataDirectory(given.dataDir)
  await using etcd = await embeddedEtcd(given, context)
  const options = etcd ? { ...given, store: { ...given.store, etcd: etcd.flags } } : given
  const units = await openUnits(options)
  const parts = siteParts(options, { etcd, units })
  const role = { parts, open: (plane: OpenPlane): OpenSite => openSite({ ...plane, context }) }
  using serving = linkedSignal(context.signal)
  using _end = { [Symbol.dispose]: () => serving.abort(new Error('The site has stopped')) }
  const scope = { ...context, signal: serving.signal }
  await using served = await servedEtcd(options, scope)
  await using plane = await startControlPlane(
    { ...planeOptions(options, context), guard: guardOf(units) },
    role,
    scope,
  )
  // From here on the server runs until its users have ended: a leader releases its lease.
  serving[Symbol.dispose]()
  const tasks = await tasksOf(plane.parts, plane.opened)
  const { address } = plane.server
  const path = join(options.dataDir, 'admin.kubeconfig')
  const adminFile = { path, name: options.name, server: localServer(address) }
  await writeAdminKubeconfig(plane.pki, adminFile)
  plane.onRenewed((pki) => writeAdminKubeconfig(pki, adminFile))
  await using _requests = await openRoleSocket(join(options.dataDir, 'backup.sock'), plane)
  reportReady()
  context.log.info('Site serves', { address, version })
  await runAll(context.signal, [plane.upkeep, ...tasks, ...(served?.tasks ?? [])])
}

function guardOf(units: Units | undefined): ControlPlaneOptions['guard'] {
  return async (opened) => {
    // A unit begins with the list of lent objects, which stays the same while it has several masters.
    const own = await guardLent(opened)
    return units ? units.fence.guard(own) : own
  }
}

/** Imported only by a site that hands units over. */
async function openUnits({
  dataDir,
  network,
  store = {},
  control,
}: SiteOptions): Promise<Units | undefined> {
  if (control?.edgeApps?.handsUnitsOver !== true) return undefined
  const [{ units }, { UnitFence }] = await Promise.all([
    import('./parts/units.ts'),
    import('./units/unit-fence.ts'),
  ])
  const { clusterCidr, serviceCidr, clusterDomain, nodeCidrMaskSize = 24 } = network
  const settings = { clusterCidr, serviceCidr, clusterDomain, nodeCidrMaskSize }
  const isShared = isInEtcd(store)
  return units({ dataDir, isShared, settings }, new UnitFence({ isShared }))
}

/** Imported only by a site that serves one. */
async function servedEtcd(
  { servedEtcd: served }: SiteOptions,
  context: RoleContext,
): Promise<ServedEtcd | undefined> {
  if (served === undefined) return undefined
  const { serveEtcd } = await import('../etcd/serve-etcd.ts')
  return serveEtcd(served, context)
}

/** Starts the site's own etcd, if it has one; imported only then. */
async function embeddedEtcd(
  { dataDir, listening, store = {}, ...options }: SiteOptions,
  context: RoleContext,
): Promise<EmbeddedEtcd | undefined> {
  if (store.embedded === undefined) {
    const { refuseLeftEtcd } = await import('./etcd/refuse-left-etcd.ts')
    await refuseLeftEtcd(dataDir, isInEtcd(store))
    return undefined
  }
  const { startEmbedded } = await import('./etcd/start-embedded.ts')
  const { bindAddress, advertiseAddress } = listening
  const prefix = store.etcd?.etcdPrefix ?? '/skerry/site'
  const settings = settingsOf({ dataDir, listening, ...options })
  const site = { dataDir, prefix, bindAddress, advertiseAddress, settings }
  return startEmbedded(store.embedded, site, context)
}

function planeOptions(options: SiteOptions, context: RoleContext): ControlPlaneOptions {
  const { listening, store, access, served, aggregation } = options
  return {
    directory: options.dataDir,
    authorityName: `skerry-site-${options.name}`,
    listening,
    sans: () => ['localhost', '127.0.0.1', ...hostAddresses()],
    store,
    replicas: isInEtcd(store ?? {}) ? { keyFile: store?.replicaKeyFile } : undefined,
    access,
    served,
    frontProxy: aggregation?.frontProxy,
    // Its own agent passes the hub's trace context on, and the hub checks whom to trust.
    trustsTraceOf: ({ name }) => name === localAgentUser,
    nodes: {
      serviceCidr: options.network.serviceCidr,
      dial: (pki) =>
        createDirectDial(
          () => ({
            ...pki().kubeletClient,
            kubeletAuthorityPem: pki().authority.certificatePem,
          }),
          context,
        ),
    },
  }
}

function openSite(plane: OpenPlane): OpenSite {
  const { clock, log } = plane.context
  const transport = plane.server.transport(siteUser)
  return { ...plane, cluster: createCluster(transport, { log, clock, userAgent }) }
}
