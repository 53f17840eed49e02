import { join } from 'node:path'
import { readFile } from 'node:fs/promises'
import { ExpectedError, asError, createBackoff, exitCodes } from '@skerry/base'
import { parseBootstrapToken } from '@skerry/api'
import {
  ensureDirectory,
  holdServingCertificate,
  joinNode,
  readFileIfPresent,
  writeFileDurably,
  type CertificateHolder,
  type NodeIdentity,
} from '@skerry/bootstrap'
import { namedServers } from './follow-api-servers.ts'
import { withLoopback } from './loopback-servers.ts'
import type { RoleContext } from './role-context.ts'
import { runtimeBounds } from './limits-table.ts'

export interface NodeIdentityOptions {
  dataDir: string
  nodeName: string
  /** If empty, those of the first join. */
  servers: readonly string[]
  tokenFile: string | undefined
  caHash: string | undefined
}

/** Opens the identity from disk if an earlier start left one, without the network; otherwise by joining. */
export async function openNodeIdentity(
  options: NodeIdentityOptions,
  context: RoleContext,
): Promise<NodeIdentity> {
  const directory = pkiDirectory(options)
  await ensureDirectory(directory)
  const known = await knownServers(join(directory, 'server'))
  const left = await knownServers(leftServersPath(options))
  // Options often stay as they were when the node went to another control plane.
  const given = options.servers.filter((server) => !left.includes(server))
  const servers = withLoopback(given.length > 0 ? given : known, known)
  if (servers.length === 0) {
    throw new ExpectedError(
      'Cannot start node: it has not joined a cluster; pass --server, --token-file and --ca-hash as "skerry token create --print-join-command" prints them',
      exitCodes.usage,
    )
  }
  // Tokens are taken back when a node is Ready, and one that has joined needs none.
  const needsToken = known.length === 0 || (await isThere(options.tokenFile))
  const token = needsToken ? await readToken(options.tokenFile) : undefined
  const identity = await joinNode(
    {
      nodeName: options.nodeName,
      directory,
      servers,
      named: await namedServers(directory, context.log),
      ...(token === undefined ? {} : { token }),
      ...(options.caHash === undefined ? {} : { authorityHashes: [options.caHash] }),
    },
    context,
    context.signal,
  )
  await writeFileDurably(join(directory, 'server'), servers.join('\n'), 0o644)
  return identity
}

async function isThere(path: string | undefined): Promise<boolean> {
  return path !== undefined && (await readFileIfPresent(path)) !== undefined
}

/** The operator's addresses, one a line. */
async function knownServers(path: string): Promise<string[]> {
  const text = (await readFileIfPresent(path))?.trim()
  if (text === undefined) return []
  const servers = text.split('\n')
  if (servers.every((server) => URL.canParse(server))) return servers
  throw new ExpectedError(
    `Cannot start node: ${path} is damaged: it holds no address; pass --server with that of the cluster`,
    exitCodes.dataDirectory,
  )
}

export function pkiDirectory({ dataDir }: { dataDir: string }): string {
  return join(dataDir, 'pki')
}

/** Returns the path of the addresses that the node left when it took this identity, one a line. */
export function leftServersPath(options: { dataDir: string }): string {
  return join(pkiDirectory(options), 'left-servers')
}

export async function readToken(
  file: string | undefined,
): Promise<ReturnType<typeof parseBootstrapToken>> {
  if (file === undefined) return undefined
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new ExpectedError(
      `Cannot read the token file ${file}; pass --token-file with the token in it`,
      exitCodes.usage,
      {
        cause: error,
      },
    )
  })
  const token = parseBootstrapToken(text.trim())
  if (token !== undefined) return token
  throw new ExpectedError(
    `Cannot use ${file}: it holds no bootstrap token (six characters, a dot, sixteen characters)`,
    exitCodes.usage,
  )
}

/** Waits as long as it takes: a node away from its control plane runs pods, and has time. */
export async function obtainServingCertificate(
  identity: NodeIdentity,
  serving: Parameters<typeof holdServingCertificate>[1],
  context: RoleContext,
): Promise<CertificateHolder> {
  const backoff = createBackoff(runtimeBounds.nodeIdentity.retry, context.random)
  for (;;) {
    try {
      return await holdServingCertificate(identity, serving, context, context.signal)
    } catch (error) {
      if (context.signal.aborted || error instanceof ExpectedError) throw error
      context.log.info('Serving certificate not there yet', {
        error: asError(error),
      })
      await context.clock.sleep(backoff.nextMs(), context.signal)
    }
  }
}
