import { join } from 'node:path'
import { mkdir } from 'node:fs/promises'
import type { Kind } from '@skerry/api'
import {
  createApiServer,
  createDefaultAccess,
  ensureBootstrapObjects,
  goOnPastUnreadable,
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
  type Serving,
  type Route,
  type SubresourceTableOptions,
  type TlsFiles,
  type TrustedProxies,
} from '@skerry/apiserver'
import {
  ExpectedError,
  exitCodes,
  abortReason,
  isDiskFull,
  runAll,
  messageOf,
  type Task,
} from '@skerry/base'
import {
  ensureClusterPki,
  openTimeFloor,
  type ClusterPki,
  type ClusterPkiOptions,
  type TimeFloor,
} from '@skerry/bootstrap'
import {
  compactionDefaults,
  openSqliteStore,
  runCompaction,
  sqliteFault,
  takeStoreLock,
  type Store,
} from '@skerry/store'
import { codeOf } from '../runtime/data-directory.ts'
import type { RoleContext } from '../runtime/role-context.ts'
import { version } from '../runtime/version.ts'
import { openAccessFiles, type AccessFiles } from './access-files.ts'
import type { AccessFlags } from './access-options.ts'
import {
  createCertificateKeeper,
  newestCertificateMs,
  type CertificateKeeper,
  type Renewal,
} from './certificate-upkeep.ts'
import type { EtcdFlags } from './etcd-options.ts'
import {
  frontProxiesOf,
  publishAuthentication,
  type FrontProxies,
  type FrontProxyOptions,
} from './front-proxy.ts'
import { requireAuthority, requireStore } from './require-store.ts'
import { fetchSharedKeys, shareKeys } from './shared-keys.ts'
import { claimStore, type StorePlace } from './store-owner.ts'

export interface ControlPlaneOptions {
  /** Holds pki/, and store.db unless the state is in etcd. */
  directory: string
  /** True starts with an empty store even if there are keys. */
  newStore?: boolean | undefined
  /** The store's etcd; without servers, the state is in store.db. */
  etcd?: EtcdFlags
  /** Set if others run on the same etcd, with the same keys; `keyFile` opens those, and is needed once. */
  replicas?: { readonly keyFile: string | undefined }
  /** The common name of the authority that a first start creates. */
  authorityName: string
  bindAddress: string
  port: number
  /** The proxies whose connections begin with a PROXY header. If omitted, none. */
  proxies?: TrustedProxies | undefined
  dnsNames: readonly string[]
  ipAddresses: readonly string[]
  kinds: readonly Kind[]
  /** The message of a ComponentStatus for parts that do not run here. */
  componentFaults?: ApiServerOptions['componentFaults']
  routes?: readonly Route[]
  /** Returns the target to which a request is rewritten. */
  retarget?: Serving['retarget']
  /**
   * The interval at which the rights of open watches and sessions are checked again. If omitted, never, as
   * upstream.
   */
  accessCheckMs?: number
  audit?: AuditSink
  /** Selects users whose trace context is trusted, in addition to upstream's. */
  trustsTraceOf?: NonNullable<RequestTracing['trusts']>
  /** The range of service addresses; omitted on a hub, whose services are templates. */
  serviceCidr?: string
  /** Dials nodes for pods' logs and streams; omitted on a hub, which has no nodes. */
  dial?: (pki: () => ClusterPki) => SubresourceTableOptions['dial']
  /**
   * The proxies that may name the user for whom they ask. If omitted, those with certificates of this control
   * plane's front proxy authority.
   */
  frontProxy?: FrontProxyOptions
  /** The group versions that this process serves in addition to the stored ones. */
  localApis?: (objects: Objects, dial: BackendDial | undefined) => readonly LocalApi[]
  /** Authentication, audit and encryption, by configuration files. */
  access?: AccessFlags
  /** Returns this control plane's additions to the usual checks. */
  extraAccess?: (objects: Objects) => ExtraAccess
}

/** A store that can be copied while it runs, or reports how else to back it up. */
export interface ControlPlaneStore extends Store {
  backup(targetPath: string): Promise<{ bytes: number; revision: number }>
}

export interface ControlPlane extends AsyncDisposable {
  server: ApiServer
  pki: ClusterPki
  /** The time for certificates that this control plane signs. */
  time: TimeFloor
  objects: Objects
  store: ControlPlaneStore
  /** The OpenID Connect issuers whose tokens it accepts now. */
  issuers: ConfiguredUsers['issuers']
  backup: ControlPlaneStore['backup']
  /** Issues every certificate again that its authorities can issue. */
  renewCertificates(): Promise<void>
  /** Calls the listener with each set of certificates after the first. */
  onRenewed(listener: (pki: ClusterPki) => Promise<void>): void
  /** Fails with the server; until then compacts history and renews certificates. */
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
    const fault = sqliteFault(error instanceof ExpectedError ? error.cause : error)
    if (fault === 'corrupt' || fault === 'notADatabase') throw damaged(options.directory, error)
    if (codeOf(error) === 'EISDIR' || codeOf(error) === 'ERR_FS_EISDIR') {
      const reason = messageOf(error)
      throw new ExpectedError(
        `Cannot start: a directory is in the place of a file under ${options.directory}: ${reason}; remove it, or restore the file`,
        exitCodes.dataDirectory,
        { cause: error },
      )
    }
    if (error instanceof ExpectedError || !isDiskFull(error)) throw error
    throw new ExpectedError(
      `Cannot start: the disk under ${options.directory} is full; free some space and start again`,
      exitCodes.diskFull,
      { cause: error },
    )
  }
}

/** Returns the error for pages that were not read when the file was opened. */
function damaged(directory: string, cause: unknown): ExpectedError {
  return new ExpectedError(
    `Cannot start: ${join(directory, 'store.db')} is damaged; run "skerry restore <backup> --data-dir ${directory}"`,
    exitCodes.dataDirectory,
    { cause },
  )
}

async function openControlPlane(
  options: ControlPlaneOptions,
  context: RoleContext,
): Promise<ControlPlane> {
  await using stack = new AsyncDisposableStack()
  const { clock, random, log, metrics, signal } = context
  await mkdir(options.directory, { recursive: true, mode: 0o700 })
  // Replicas get a missing authority from etcd.
  if (!options.replicas) await requireAuthority(options.directory)
  if (!isInEtcd(options) && options.newStore !== true) await requireStore(options.directory)
  const store = stack.use(await openStore(options, context))
  // Replicas that start at the same time take turns: the first creates what all of them share.
  const { replicas } = options
  await using _turn = replicas
    ? await takeStoreLock(store, '/locks/start', { clock }, signal)
    : undefined
  const isFirst = replicas && !(await fetchSharedKeys(store, options.directory, replicas.keyFile))
  // A replica that took its keys from etcd found them in the store of its own cluster.
  const finishClaim = replicas && !isFirst ? undefined : await claimStore(store, placeOf(options))
  const pkiOptions: ClusterPkiOptions = { ...options, directory: join(options.directory, 'pki') }
  const time = stack.use(await openTime(options.directory, context))
  const pki = await ensureClusterPki(pkiOptions, time)
  const renewal: Renewal = { current: pki, listeners: [] }
  const dial = options.dial?.(() => renewal.current)
  const frontProxies = await frontProxiesOf(options.frontProxy ?? {}, () => renewal.current)
  const files = stack.use(
    await openAccessFiles(options.directory, options.access ?? {}, context, store),
  )
  if (isFirst) await shareKeys(store, options.directory)
  await finishClaim?.(pki.authority.certificatePem)
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
        onBytes: context.onBytes,
      },
      signal,
    ),
  )
  await ensureBootstrapObjects(server.objects, log)
  await goOnPastUnreadable(log, () => publishAuthentication(server.objects, pki, frontProxies))
  await goOnPastUnreadable(log, () => publishTokenTracking(server.objects, clock))
  await server.listen()
  const tls = (each: ClusterPki): TlsFiles => tlsOf(each, frontProxies)
  const keeper = createCertificateKeeper({ pkiOptions, server, tlsOf: tls, renewal, time }, context)
  const owned = stack.move()
  return {
    server,
    pki,
    time,
    objects: server.objects,
    store,
    issuers: () => files.configuredUsers?.issuers() ?? [],
    backup: (targetPath) => store.backup(targetPath),
    renewCertificates: () => keeper.renewAll(),
    onRenewed: (listener) => void renewal.listeners.push(listener),
    upkeep: upkeepOf({ ...parts, store, server, time, keeper }, context),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Returns the work that continues as long as the server runs. */
function upkeepOf(
  parts: ServerParts & {
    store: Store
    server: ApiServer
    time: TimeFloor
    keeper: CertificateKeeper
  },
  context: RoleContext,
): Task {
  const { store, server, time, files, keeper } = parts
  return (scope) =>
    runAll(scope, [
      failWith(server),
      ...files.follow(() => server.retryUnreadable()),
      (each) => runCompaction(store, compactionDefaults, context.clock, each),
      (each) => time.run(each),
      (each) => keeper.run(each),
    ])
}

/** Opens what this machine remembers of the time, in a file next to the store. */
async function openTime(directory: string, context: RoleContext): Promise<TimeFloor> {
  const earliestMs = await newestCertificateMs(directory, context.clock.now())
  return openTimeFloor({ path: join(directory, 'time.json'), earliestMs }, context)
}

function placeOf(options: ControlPlaneOptions): StorePlace {
  return {
    directory: options.directory,
    isInEtcd: isInEtcd(options),
    newStore: options.newStore === true,
    givesUpKeys: options.access?.newEncryptionKey === true,
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
    return openSqliteStore(join(directory, 'store.db'), { hasReserve: true }, { clock, log })
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
  const { configuredUsers, tokenFile, auditTrail, webhooks, enabledPlugins } = files
  const { tokenWebhook, configuredAuthorizers } = webhooks ?? {}
  const serviceAccounts = { issuer: tokenIssuer, signingKeyPem: pki.serviceAccountKeyPem }
  const usual = {
    serviceAccounts,
    requestHeader: frontProxies.requestHeader,
    enabledPlugins,
    ...(configuredUsers === undefined ? {} : { configuredUsers }),
    ...(tokenFile === undefined ? {} : { tokenFile }),
    ...(tokenWebhook === undefined ? {} : { tokenWebhook }),
    ...(configuredAuthorizers === undefined ? {} : { configuredAuthorizers }),
    ...(dial === undefined ? {} : { dial }),
  }
  return {
    kinds: options.kinds,
    tls: tlsOf(pki, frontProxies),
    address: options.bindAddress,
    port: options.port,
    proxies: options.proxies,
    serving({ objects }) {
      const extra = options.extraAccess ? [options.extraAccess(objects)] : []
      return {
        access: createDefaultAccess({ ...usual, extra }, context)(objects),
        routes: [
          ...(options.routes ?? []),
          ...issuerRoutes(serviceAccounts, `${tokenIssuer}/openid/v1/jwks`),
        ],
        localApis: options.localApis?.(objects, dial) ?? [],
        retarget: options.retarget,
        audit: options.audit,
      }
    },
    ...(files.checkKeyPlugins ? { healthChecks: { 'kms-providers': files.checkKeyPlugins } } : {}),
    componentFaults: options.componentFaults,
    ...(options.serviceCidr === undefined
      ? {}
      : { services: { ...serviceAddressDefaults, clusterIpRanges: [options.serviceCidr] } }),
    aggregation: {
      identity: () => renewal.current.frontProxyClient,
      ...(dial === undefined ? {} : { dial }),
    },
    version: { gitVersion: `v1.36.3+skerry-${version}` },
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

/** Returns a task that fails with the server and ends with the scope, for tasks that run next to it. */
function failWith(server: ApiServer): Task {
  return (scope) =>
    new Promise((_resolve, reject) => {
      server.failed.catch(reject)
      const onAbort = (): void => reject(abortReason(scope))
      if (scope.aborted) onAbort()
      else scope.addEventListener('abort', onAbort, { once: true })
    })
}
