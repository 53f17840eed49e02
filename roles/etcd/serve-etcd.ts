import { join } from 'node:path'
import { ExpectedError, exitCodes, type ExitCode, type Task } from '@skerry/base'
import {
  openEtcdServer,
  type EtcdServer,
  type EtcdServerOptions,
  type ListeningServer,
} from '@skerry/etcd-server'
import { runCompaction } from '@skerry/store'
import { codeOf, openDataDirectory } from '../runtime/data-directory.ts'
import type { RoleContext } from '../runtime/role-context.ts'
import { listenUrl, type ListenUrl } from './listen-urls.ts'
import { etcdOptionNames, type EtcdOptionNames } from './option-names.ts'
import {
  followCertificates,
  readCertificates,
  refuseUnusedCertificates,
  type CertificateOptions,
} from './server-certificates.ts'
import { clearSocketPath } from './socket-path.ts'

export interface EtcdRoleOptions {
  readonly dataDir: string
  readonly name: string
  readonly listenUrls: readonly string[]
  /** The URLs that the member list names; if omitted, those at which it listens. */
  readonly advertiseUrls: readonly string[] | undefined
  readonly certificates: CertificateOptions
  /** The words of the command, for errors. Default: those of `skerry etcd`. */
  readonly names?: EtcdOptionNames
  readonly limits: EtcdServerOptions['limits']
  /** The time for which history is kept. If omitted, only clients compact. */
  readonly keepMs: number | undefined
}

/** An etcd that serves. Its tasks run until their signal aborts. */
export interface ServedEtcd extends AsyncDisposable {
  readonly tasks: readonly Task[]
}

/** Opens the store in the data directory and serves etcd's API of it. Throws ExpectedError that says what to do. */
export async function serveEtcd(
  options: EtcdRoleOptions,
  context: RoleContext,
): Promise<ServedEtcd> {
  const { names = etcdOptionNames } = options
  const urls = options.listenUrls.map((url) => listenUrl(url, names))
  const isEncrypted = urls.some(({ isTls }) => isTls)
  if (!isEncrypted) refuseUnusedCertificates(options.certificates, names)
  const tls = isEncrypted ? await readCertificates(options.certificates, names) : undefined
  await openDataDirectory(options.dataDir)
  const { name, limits } = options
  const path = join(options.dataDir, 'etcd.db')
  const clientUrls = options.advertiseUrls ?? options.listenUrls
  await using stack = new AsyncDisposableStack()
  const server = stack.use(await openEtcdServer({ path, name, clientUrls, limits }, context))
  const listening: ListeningServer[] = []
  for (const url of urls) {
    const at = await listenAt(server, { ...url, option: names.urls }, url.isTls ? tls : undefined)
    listening.push(at)
    context.log.info('etcd serves', { url: url.url, port: at.port })
  }
  const follow: Task = (scope) =>
    followCertificates(
      { ...options.certificates, names },
      (renewed) => listening.forEach((each) => each.setTls(renewed)),
      context,
      scope,
    )
  const owned = stack.move()
  return {
    tasks: [...compactionOf(server, options.keepMs, context), ...(tls ? [follow] : [])],
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

function compactionOf({ engine }: EtcdServer, keepMs: number | undefined, { clock }: RoleContext) {
  if (keepMs === undefined) return []
  const store = {
    revision: async () => engine.revision,
    compact: async (revision: number) => {
      // A client may have compacted further meanwhile.
      if (revision > engine.compacted) await engine.compact(revision)
    },
  }
  return [(scope: AbortSignal) => runCompaction(store, { keepMs }, clock, scope)]
}

async function listenAt(
  server: EtcdServer,
  { url, address, option }: ListenUrl & { readonly option: string },
  tls: Parameters<EtcdServer['listen']>[1],
) {
  if ('path' in address) await clearSocketPath(address.path, option)
  try {
    return await server.listen(address, tls)
  } catch (error) {
    const code = codeOf(error) ?? ''
    const [why, exitCode] = refusals[code] ?? []
    if (why === undefined || exitCode === undefined) throw error
    const text = `Cannot listen on ${url}: ${why}; pass another ${option}`
    throw new ExpectedError(text, exitCode, { cause: error })
  }
}

/** The words for the kernel's codes when it refuses an address or the path of a socket. */
const refusals: Readonly<Record<string, readonly [string, ExitCode]>> = Object.freeze({
  EADDRINUSE: ['it is in use', exitCodes.portTaken],
  EADDRNOTAVAIL: ['this machine does not have the address', exitCodes.usage],
  EACCES: ['permission denied', exitCodes.missingRight],
  EROFS: ['its file system is read-only', exitCodes.usage],
})
