import { join } from 'node:path'
import {
  createApiServer,
  ensureBootstrapObjects,
  goOnPastUnreadable,
  publishTokenTracking,
  type ApiServer,
  type ConfiguredUsers,
  type TlsFiles,
} from '@skerry/apiserver'
import {
  ExpectedError,
  exitCodes,
  abortReason,
  isDiskFull,
  makeDirectoryDurably,
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
import { compactionDefaults, runCompaction, sqliteFault, takeStoreLock } from '@skerry/store'
import { codeOf } from '../runtime/data-directory.ts'
import { isAddress, withoutBrackets } from '../runtime/host-addresses.ts'
import type { RoleContext } from '../runtime/role-context.ts'
import { openAccessFiles, type AccessFiles } from './access-files.ts'
import {
  createCertificateKeeper,
  newestCertificateMs,
  type CertificateKeeper,
  type Renewal,
} from './certificate-upkeep.ts'
import type { ControlPlaneOptions } from './control-plane-options.ts'
import { frontProxiesOf, publishAuthentication } from './front-proxy.ts'
import { openStore, type ControlPlaneStore } from './open-store.ts'
import { kindsOf, type OpenPlane, type PlanePart, type PlaneRole } from './plane-part.ts'
import { requireAuthority, requireStore } from './require-store.ts'
import { servedKinds } from './served-kinds.ts'
import { serverOptions, tlsOf, type ServedRole } from './server-options.ts'
import { fetchSharedKeys, shareKeys } from './shared-keys.ts'
import { isInEtcd } from './store-options.ts'
import { claimStore, type StorePlace } from './store-owner.ts'

export interface ControlPlane<Plane extends OpenPlane = OpenPlane>
  extends OpenPlane, AsyncDisposable {
  readonly server: ApiServer
  /** The plane as the parts of its role have it. */
  readonly opened: Plane
  /** The parts of its role, open. */
  readonly parts: readonly PlanePart<Plane>[]
  backup: ControlPlaneStore['backup']
  /** Issues every certificate again that its authorities can issue. */
  renewCertificates(): Promise<void>
  /** Called with each set of certificates that follows the first. */
  onRenewed(listener: (pki: ClusterPki) => Promise<void>): void
  /** Fails with the server; meanwhile compacts history and renews certificates. */
  upkeep: Task
}

/** A control plane without a role of its own. */
export const bareRole: PlaneRole = Object.freeze({ parts: [], open: (plane: OpenPlane) => plane })

/** Opens store and keys, and serves the API; what every control plane, site or hub, has in common. */
export async function startControlPlane<Plane extends OpenPlane>(
  options: ControlPlaneOptions,
  role: PlaneRole<Plane>,
  context: RoleContext,
): Promise<ControlPlane<Plane>> {
  const kinds = await kindsOf(role.parts, await servedKinds(options.served ?? {}))
  try {
    return await openControlPlane(options, { ...role, kinds }, context)
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

/** Pages that were not read when the file was opened. */
function damaged(directory: string, cause: unknown): ExpectedError {
  return new ExpectedError(
    `Cannot start: ${join(directory, 'store.db')} is damaged; run "skerry restore <backup> --data-dir ${directory}"`,
    exitCodes.dataDirectory,
    { cause },
  )
}

async function openControlPlane<Plane extends OpenPlane>(
  options: ControlPlaneOptions,
  role: ServedRole<Plane>,
  context: RoleContext,
): Promise<ControlPlane<Plane>> {
  await using stack = new AsyncDisposableStack()
  const { clock, random, log, metrics, signal } = context
  const { directory, replicas, store: storeOptions = {} } = options
  await makeDirectoryDurably(directory)
  // Replicas get a missing authority from etcd.
  if (!replicas) await requireAuthority(directory)
  if (!isInEtcd(storeOptions) && storeOptions.newStore !== true) await requireStore(directory)
  const store = stack.use(await openStore(directory, storeOptions, context))
  // Replicas that start at the same time follow each other: one makes what all of them share.
  await using _turn = replicas
    ? await takeStoreLock(store, '/locks/start', { clock }, signal)
    : undefined
  const isFirst = replicas && !(await fetchSharedKeys(store, directory, replicas.keyFile))
  // A replica that took its keys from etcd found them in the store of its own cluster.
  const finishClaim = replicas && !isFirst ? undefined : await claimStore(store, placeOf(options))
  const pkiOptions = (): ClusterPkiOptions => pkiOptionsOf(options, role)
  const time = stack.use(await openTime(directory, context))
  const pki = await ensureClusterPki(pkiOptions(), time)
  const renewal: Renewal = { current: pki, listeners: [] }
  const dial = options.nodes?.dial(() => renewal.current)
  const frontProxies = await frontProxiesOf(options.frontProxy ?? {}, () => renewal.current)
  const access = { ...options.access, isShared: replicas !== undefined }
  const files = stack.use(await openAccessFiles(directory, access, context, store))
  if (isFirst) await shareKeys(store, directory)
  await files.useSharedKeys()
  await finishClaim?.(pki.authority.certificatePem)
  const issuers = (): ReturnType<ConfiguredUsers['issuers']> =>
    files.configuredUsers?.issuers() ?? []
  const presentPki = (): ClusterPki => renewal.current
  const base = { store, pki, presentPki, time, issuers, dial, context }
  const guarded = (await options.guard?.(files.store)) ?? files.store
  const deps = { store: guarded, isStale: (key: string) => files.store.isStale(key) }
  const server = stack.use(
    await createApiServer(
      serverOptions(options, role, { base, renewal, frontProxies, files }),
      { ...deps, clock, random, log, metrics, onBytes: context.onBytes },
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
    ...base,
    server,
    opened: server.serving.plane,
    parts: server.serving.parts,
    objects: server.objects,
    backup: (targetPath) => store.backup(targetPath),
    renewCertificates: () => keeper.renewAll(),
    onRenewed: (listener) => void renewal.listeners.push(listener),
    upkeep: upkeepOf({ store, server, time, files, keeper }, context),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Returns the work that continues as long as the server runs. */
function upkeepOf(
  {
    store,
    server,
    time,
    files,
    keeper,
  }: {
    store: ControlPlaneStore
    server: ApiServer
    time: TimeFloor
    files: AccessFiles
    keeper: CertificateKeeper
  },
  context: RoleContext,
): Task {
  return (scope) =>
    runAll(scope, [
      failWith(server),
      ...files.follow(() => server.retryUnreadable()),
      (each) => runCompaction(store, compactionDefaults, context.clock, each),
      (each) => time.run(each),
      (each) => keeper.run(each),
      async (each) => store.untilStopping?.(each),
    ])
}

/** Opens what this machine remembers of the time, in a file next to the store. */
async function openTime(directory: string, context: RoleContext): Promise<TimeFloor> {
  const earliestMs = await newestCertificateMs(directory, context.clock.now())
  return openTimeFloor({ path: join(directory, 'time.json'), earliestMs }, context)
}

function placeOf({ directory, store = {}, access }: ControlPlaneOptions): StorePlace {
  return {
    directory,
    isInEtcd: isInEtcd(store),
    newStore: store.newStore === true,
    givesUpKeys: access?.encryption?.newKey === true,
  }
}

function pkiOptionsOf<Plane extends OpenPlane>(
  { directory, authorityName, listening, ...options }: ControlPlaneOptions,
  { parts }: PlaneRole<Plane>,
): ClusterPkiOptions {
  const { extraSans = [] } = listening
  const further = [...extraSans, ...parts.flatMap((part) => part.sans ?? [])]
  const sans = [...options.sans(), ...further.map(withoutBrackets)]
  return {
    directory: join(directory, 'pki'),
    authorityName,
    dnsNames: sans.filter((san) => !isAddress(san)),
    ipAddresses: sans.filter(isAddress),
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
