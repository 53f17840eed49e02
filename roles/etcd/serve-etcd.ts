import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ExpectedError, exitCodes, type Task } from '@skerry/base'
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
import {
  followCertificates,
  readCertificates,
  type CertificateOptions,
} from './server-certificates.ts'

export interface EtcdRoleOptions {
  readonly dataDir: string
  readonly name: string
  readonly listenUrls: readonly string[]
  /** The URLs that the member list names; if omitted, those at which it listens. */
  readonly advertiseUrls: readonly string[] | undefined
  readonly certificates: CertificateOptions
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
  const urls = options.listenUrls.map(listenUrl)
  const tls = urls.some(({ isTls }) => isTls)
    ? await readCertificates(options.certificates)
    : undefined
  await openDataDirectory(options.dataDir)
  const { name, limits } = options
  const path = join(options.dataDir, 'etcd.db')
  const clientUrls = options.advertiseUrls ?? options.listenUrls
  await using stack = new AsyncDisposableStack()
  const server = stack.use(await openEtcdServer({ path, name, clientUrls, limits }, context))
  const listening: ListeningServer[] = []
  for (const url of urls) {
    const at = await listenAt(server, url, url.isTls ? tls : undefined)
    listening.push(at)
    context.log.info('etcd serves', { url: url.url, port: at.port })
  }
  const follow: Task = (scope) =>
    followCertificates(
      options.certificates,
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
  { url, address }: ListenUrl,
  tls: Parameters<EtcdServer['listen']>[1],
) {
  // A killed process leaves its socket behind; the lock of the store shows that none is running.
  if ('path' in address) await rm(address.path, { force: true })
  try {
    return await server.listen(address, tls)
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EADDRINUSE') {
      throw new ExpectedError(
        `Cannot listen on ${url}: it is in use; pass another --listen-client-urls`,
        exitCodes.portTaken,
        { cause: error },
      )
    }
    if (code === 'EADDRNOTAVAIL' || code === 'EACCES' || code === 'ENOENT') {
      const text = `Cannot listen on ${url}: ${code}; pass an address of this machine`
      throw new ExpectedError(text, exitCodes.usage, { cause: error })
    }
    throw error
  }
}
