import { join } from 'node:path'
import { mkdir } from 'node:fs/promises'
import type { Kind } from '@skerry/api'
import {
  createApiServer,
  createDefaultAccess,
  ensureBootstrapObjects,
  publishTokenTracking,
  issuerRoutes,
  serviceAddressDefaults,
  type ApiServer,
  type ApiServerOptions,
  type AuditSink,
  type BackendDial,
  type ConfiguredUsers,
  type ExtraAccess,
  type LocalApi,
  type Objects,
  type RequestTracing,
  type Route,
  type SubresourceTableOptions,
  type TlsFiles,
  type TrustedProxies,
} from '@skerry/apiserver'
import { ExpectedError, exitCodes, abortReason, runAll, type Task } from '@skerry/base'
import { ensureClusterPki, type ClusterPki, type ClusterPkiOptions } from '@skerry/bootstrap'
import {
  StoreFullError,
  compactionDefaults,
  openSqliteStore,
  runCompaction,
  takeStoreLock,
  type Store,
} from '@skerry/store'
import {
  frontProxiesOf,
  publishAuthentication,
  type FrontProxies,
  type FrontProxyOptions,
} from './front-proxy.ts'
import { openAccessFiles, type AccessFiles } from './access-files.ts'
import type { AccessFlags } from './access-flags.ts'
import type { EtcdFlags } from './etcd-flags.ts'
import type { RoleContext } from './role-context.ts'
import { fetchSharedKeys, requireOwner, shareKeys } from './shared-keys.ts'
import { version } from './version.ts'

export interface ControlPlaneOptions {
  /** Holds pki/, and store.db unless the state is in etcd. */
  directory: string
  /** Where the state is; no servers: in store.db. */
  etcd?: EtcdFlags
  /** Others run on the same etcd, with the same keys; `keyFile` opens those, and is needed once. */
  replicas?: { readonly keyFile: string | undefined }
  /** Common name of the authority that a first start makes. */
  authorityName: string
  bindAddress: string
  port: number
  /** Whose connections begin with a PROXY header; absent: nobody's do. */
  proxies?: TrustedProxies | undefined
  dnsNames: readonly string[]
  ipAddresses: readonly string[]
  kinds: readonly Kind[]
  /** What a ComponentStatus says of parts that do not run here. */
  componentFaults?: ApiServerOptions['componentFaults']
  routes?: readonly Route[]
  /** The target that a request means, where that is not the one it has. */
  retarget?: ApiServerOptions['retarget']
  /** How often it is asked whether open watches and sessions may go on; absent: never, as upstream. */
  accessCheckMs?: number
  audit?: AuditSink
  /** Whose word on which trace a request is part of holds, beside those whom upstream trusts. */
  trustsTraceOf?: NonNullable<RequestTracing['trusts']>
  /** Range of service addresses; absent on a hub, whose services are templates. */
  serviceCidr?: string
  /** How pods' logs and streams are reached; absent on a hub, which has no nodes. */
  dial?: (pki: () => ClusterPki) => SubresourceTableOptions['dial']
  /** Who may tell for whom they ask; default: certificates of this control plane's front proxy authority. */
  frontProxy?: FrontProxyOptions
  /** Group versions beside the stored ones that this process serves. */
  localApis?: (objects: Objects, dial: BackendDial | undefined) => readonly LocalApi[]
  /** Who gets in, what is recorded and what is encrypted, by configuration files. */
  access?: AccessFlags
  /** What this control plane adds to the usual checks. */
  extraAccess?: (objects: Objects) => ExtraAccess
}

/** A store that can be copied while it runs, or says how else it is. */
export interface ControlPlaneStore extends Store {
  backup(targetPath: string): Promise<{ bytes: number; revision: number }>
}

export interface ControlPlane extends AsyncDisposable {
  server: ApiServer
  pki: ClusterPki
  objects: Objects
  store: ControlPlaneStore
  /** OpenID Connect issuers whose tokens it takes now. */
  issuers: ConfiguredUsers['issuers']
  /** Called with each set of certificates that follows the first. */
  onRenewed(listener: (pki: ClusterPki) => Promise<void>): void
  /** Fails with the server; meanwhile compacts history and renews certificates. */
  upkeep: Task
}

/** The `iss` of service account tokens: upstream's in-cluster name, so that tokens verify anywhere. */
const tokenIssuer = 'https://kubernetes.default.svc.cluster.local'

/** Opens store and keys, and serves the API; what every control plane, site or hub, has in common. */
export async function startControlPlane(
  options: ControlPlaneOptions,
  context: RoleContext,
): Promise<ControlPlane> {
  try {
    return await openControlPlane(options, context)
  } catch (error) {
    if (!(error instanceof StoreFullError)) throw error
    throw new ExpectedError(
      `Cannot start: the disk under ${options.directory} is full; free some space and start again`,
      exitCodes.diskFull,
      { cause: error },
    )
  }
}

async function openControlPlane(
  options: ControlPlaneOptions,
  context: RoleContext,
): Promise<ControlPlane> {
  await using stack = new AsyncDisposableStack()
  const { clock, random, log, metrics, signal } = context
  await mkdir(options.directory, { recursive: true, mode: 0o700 })
  const store = stack.use(await openStore(options, context))
  // Replicas that start at the same time follow each other: one makes what all of them share.
  const { replicas } = options
  await using _turn = replicas
    ? await takeStoreLock(store, '/locks/start', { clock }, signal)
    : undefined
  const isFirst = replicas && !(await fetchSharedKeys(store, options.directory, replicas.keyFile))
  const pkiOptions = { ...options, directory: join(options.directory, 'pki') }
  const pki = await ensureClusterPki(pkiOptions, clock)
  const renewal: Renewal = { current: pki, listeners: [] }
  const dial = options.dial?.(() => renewal.current)
  const frontProxies = await frontProxiesOf(options.frontProxy ?? {}, () => renewal.current)
  const files = stack.use(
    await openAccessFiles(options.directory, options.access ?? {}, context, store),
  )
  if (isFirst) await shareKeys(store, options.directory)
  if (isInEtcd(options) && !replicas) {
    await requireOwner(store, pki.authority.certificatePem)
  }
  const encrypted = files.encrypted(store)
  const parts = { pki, renewal, dial, frontProxies, files }
  const server = stack.use(
    await createApiServer(
      serverOptions(options, parts, context),
      {
        store: encrypted,
        isStale: (key) => encrypted.isStale(key),
        clock,
        random,
        log,
        metrics,
      },
      signal,
    ),
  )
  await ensureBootstrapObjects(server.objects)
  await publishAuthentication(server.objects, pki, frontProxies)
  await publishTokenTracking(server.objects, clock)
  await server.listen()
  const owned = stack.move()
  return {
    server,
    pki,
    objects: server.objects,
    store,
    issuers: () => files.configuredUsers?.issuers() ?? [],
    onRenewed: (listener) => void renewal.listeners.push(listener),
    upkeep: (scope) =>
      runAll(scope, [
        failWith(server),
        ...files.follow(() => server.retryUnreadable()),
        (each) => runCompaction(store, compactionDefaults, clock, each),
        (each) => renewServing({ pkiOptions, server, context, renewal, frontProxies }, each),
      ]),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

function isInEtcd({ etcd }: ControlPlaneOptions): boolean {
  return (etcd?.etcdServers ?? []).length > 0
}

async function openStore(
  options: ControlPlaneOptions,
  context: RoleContext,
): Promise<ControlPlaneStore> {
  const { directory, etcd = {} } = options
  const { clock, log } = context
  if (!isInEtcd(options)) {
    return openSqliteStore(join(directory, 'store.db'), {}, { clock, log })
  }
  const { openEtcd } = await import('./open-etcd.ts')
  return openEtcd(etcd, context)
}

interface ServerParts {
  pki: ClusterPki
  renewal: Renewal
  dial: BackendDial | undefined
  frontProxies: FrontProxies
  files: AccessFiles
}

function serverOptions(
  options: ControlPlaneOptions,
  { pki, renewal, dial, frontProxies, files }: ServerParts,
  context: RoleContext,
): ApiServerOptions {
  const { configuredUsers, tokenFile, auditTrail, webhooks } = files
  const { tokenWebhook, configuredAuthorizers } = webhooks ?? {}
  const serviceAccounts = { issuer: tokenIssuer, signingKeyPem: pki.serviceAccountKeyPem }
  return {
    kinds: options.kinds,
    tls: tlsOf(pki, frontProxies),
    address: options.bindAddress,
    port: options.port,
    proxies: options.proxies,
    access: createDefaultAccess(
      {
        serviceAccounts,
        requestHeader: frontProxies.requestHeader,
        ...(configuredUsers === undefined ? {} : { configuredUsers }),
        ...(tokenFile === undefined ? {} : { tokenFile }),
        ...(tokenWebhook === undefined ? {} : { tokenWebhook }),
        ...(configuredAuthorizers === undefined ? {} : { configuredAuthorizers }),
        ...(dial === undefined ? {} : { dial }),
        ...(options.extraAccess === undefined ? {} : { extra: options.extraAccess }),
      },
      context,
    ),
    ...(files.checkKeyPlugins ? { healthChecks: { 'kms-providers': files.checkKeyPlugins } } : {}),
    componentFaults: options.componentFaults,
    routes: [
      ...(options.routes ?? []),
      ...issuerRoutes(serviceAccounts, `${tokenIssuer}/openid/v1/jwks`),
    ],
    ...(options.serviceCidr === undefined
      ? {}
      : { services: { ...serviceAddressDefaults, clusterIpRanges: [options.serviceCidr] } }),
    aggregation: {
      identity: () => renewal.current.frontProxyClient,
      ...(dial === undefined ? {} : { dial }),
      localApis: (objects) => options.localApis?.(objects, dial) ?? [],
    },
    version: { gitVersion: `v1.36.3+skerry-${version}` },
    ...(options.audit === undefined ? {} : { audit: options.audit }),
    retarget: options.retarget,
    accessCheckMs: options.accessCheckMs,
    auditTrail,
    ...(context.tracer
      ? { tracing: { tracer: context.tracer, trusts: options.trustsTraceOf } }
      : {}),
    hasFlowControl: true,
  }
}

function tlsOf(pki: ClusterPki, { authorityPem }: FrontProxies): TlsFiles {
  return {
    cert: pki.serving.certificatePem,
    key: pki.serving.privateKeyPem,
    clientCa: [pki.authority.certificatePem, authorityPem],
  }
}

/** The newest certificates, and who wants to know of newer ones. */
interface Renewal {
  current: ClusterPki
  readonly listeners: ((pki: ClusterPki) => Promise<void>)[]
}

/** How often the certificates are looked at; they are renewed with a tenth of their year left. */
const renewalLookMs = 12 * 3_600_000

/** A control plane may run for years: its certificates are made anew while it serves. */
async function renewServing(
  parts: {
    pkiOptions: ClusterPkiOptions
    server: ApiServer
    context: RoleContext
    renewal: Renewal
    frontProxies: FrontProxies
  },
  signal: AbortSignal,
): Promise<never> {
  const { clock, log } = parts.context
  for (;;) {
    await clock.sleep(renewalLookMs, signal)
    try {
      const next = await ensureClusterPki(parts.pkiOptions, clock)
      parts.renewal.current = next
      parts.server.setTls(tlsOf(next, parts.frontProxies))
      for (const listener of parts.renewal.listeners) await listener(next)
    } catch (error) {
      log.error('Certificates not renewed, trying again', {
        error: error instanceof Error ? error : null,
      })
    }
  }
}

/** Fails with the server, ends with the scope: for those who run beside it. */
function failWith(server: ApiServer): Task {
  return (scope) =>
    new Promise((_resolve, reject) => {
      server.failed.catch(reject)
      const onAbort = (): void => reject(abortReason(scope))
      if (scope.aborted) onAbort()
      else scope.addEventListener('abort', onAbort, { once: true })
    })
}
