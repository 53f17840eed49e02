/** Masters of one site on one etcd, in this process, for tests. */
import { access, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createMetrics,
  linkedSignal,
  silentLogger,
  systemClock,
  systemRandom,
  type Logger,
} from '@skerry/base'
import {
  createCluster,
  createHttpsTransport,
  loadKubeconfig,
  type ClusterClient,
  type HttpsTransport,
} from '@skerry/client'
import { replicaKeyPath } from '../../roles/control-plane/shared-keys.ts'
import { runSite, type SiteOptions } from '../../roles/site/site.ts'
import type { TestEtcd } from '../test-etcd.ts'
import { until } from '../until.ts'

export interface TestMasterOptions {
  readonly etcd: TestEtcd
  /** Another master of the site. */
  readonly beside?: TestMaster
  /** The address that it publishes; nothing listens there. */
  readonly advertiseAddress: string
  /** True: it runs controllers and scheduler while it leads. */
  readonly leads?: boolean
  readonly log?: Logger
  /** Default: 10.43.0.0/16. */
  readonly serviceCidr?: string
  /** host:port before the masters. Default: there is none. */
  readonly controlPlaneEndpoint?: string | undefined
}

export interface TestMaster extends AsyncDisposable {
  readonly dataDir: string
  readonly url: string
  /** The API as the administrator, over the socket. */
  readonly cluster: ClusterClient
  readonly transport: HttpsTransport
}

/** Starts a master on a loopback port. It is ready when this resolves. */
export async function startTestMaster({
  etcd,
  beside,
  advertiseAddress,
  leads = false,
  log = silentLogger,
  serviceCidr = '10.43.0.0/16',
  controlPlaneEndpoint,
}: TestMasterOptions): Promise<TestMaster> {
  await using stack = new AsyncDisposableStack()
  const dataDir = await mkdtemp(join(tmpdir(), 'skerry-master-'))
  stack.defer(() => rm(dataDir, { recursive: true }))
  const stop = linkedSignal(new AbortController().signal)
  let isReady = false
  const seams = { clock: systemClock, random: systemRandom, log }
  const running = runSite(
    optionsOf(dataDir, {
      etcd,
      beside,
      advertiseAddress,
      leads,
      serviceCidr,
      controlPlaneEndpoint,
    }),
    {
      ...seams,
      metrics: createMetrics(),
      signal: stop.signal,
    },
  )
  stack.defer(async () => {
    stop.abort(new Error('the test is over'))
    // A start that failed rejects here, too, and its caller has the reason.
    if (isReady) await running
    else await running.catch(() => undefined)
  })
  const path = join(dataDir, 'admin.kubeconfig')
  const isThere = (): Promise<boolean> =>
    access(path).then(
      () => true,
      () => false,
    )
  const ended = new AbortController()
  const failed = running
    .then(() => Promise.reject(new Error('It ended')))
    .finally(() => ended.abort(new Error('The master has ended')))
  const inTime = AbortSignal.any([ended.signal, AbortSignal.timeout(60_000)])
  await Promise.race([until(isThere, inTime), failed])
  isReady = true
  const { transport: target } = await loadKubeconfig(path, {}, { ...seams, environment: {} })
  const transport = stack.use(createHttpsTransport(target, seams))
  const owned = stack.move()
  return {
    dataDir,
    url: target.server,
    cluster: createCluster(transport, { ...seams, userAgent: 'test' }),
    transport,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

function optionsOf(
  dataDir: string,
  {
    etcd,
    beside,
    advertiseAddress,
    leads,
    serviceCidr,
    controlPlaneEndpoint,
  }: Omit<Required<TestMasterOptions>, 'log' | 'beside' | 'controlPlaneEndpoint'> & {
    readonly beside: TestMaster | undefined
    readonly controlPlaneEndpoint: string | undefined
  },
): SiteOptions {
  return {
    dataDir,
    name: 'test',
    listening: { bindAddress: '127.0.0.1', port: 0, advertiseAddress },
    network: {
      clusterCidr: '10.42.0.0/16',
      serviceCidr,
      clusterDomain: 'cluster.local',
      controlPlaneEndpoint,
    },
    store: {
      etcd: { etcdServers: [etcd.endpoint], etcdPrefix: '/skerry/site' },
      ...(beside ? { replicaKeyFile: replicaKeyPath(beside.dataDir) } : {}),
    },
    control: { controllers: { isDisabled: !leads }, scheduler: { isDisabled: !leads } },
  }
}
