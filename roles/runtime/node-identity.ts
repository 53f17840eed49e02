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
import type { RoleContext } from './role-context.ts'
import { runtimeBounds } from './limits-table.ts'

export interface NodeIdentityOptions {
  dataDir: string
  nodeName: string
  server: string | undefined
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
  const serverFile = join(directory, 'server')
  const server = options.server ?? (await knownServer(serverFile))
  if (server === undefined) {
    throw new ExpectedError(
      'Cannot start node: it has not joined a cluster; pass --server, --token-file and --ca-hash as "skerry token create --print-join-command" prints them',
      exitCodes.usage,
    )
  }
  const token = await readToken(options.tokenFile)
  const identity = await joinNode(
    {
      nodeName: options.nodeName,
      directory,
      server,
      ...(token === undefined ? {} : { token }),
      ...(options.caHash === undefined ? {} : { authorityHashes: [options.caHash] }),
    },
    context,
    context.signal,
  )
  await writeFileDurably(serverFile, server, 0o644)
  return identity
}

async function knownServer(path: string): Promise<string | undefined> {
  const server = (await readFileIfPresent(path))?.trim()
  if (server === undefined || URL.canParse(server)) return server
  throw new ExpectedError(
    `Cannot start node: ${path} is damaged: it holds no address; pass --server with that of the cluster`,
    exitCodes.dataDirectory,
  )
}

export function pkiDirectory({ dataDir }: { dataDir: string }): string {
  return join(dataDir, 'pki')
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
  options: { nodeName: string; nodeIp: string; directory: string },
  context: RoleContext,
): Promise<CertificateHolder> {
  const { nodeName, nodeIp, directory } = options
  const backoff = createBackoff(runtimeBounds.nodeIdentity.retry, context.random)
  const serving = { nodeName, directory, dnsNames: [nodeName], ipAddresses: [nodeIp] }
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
