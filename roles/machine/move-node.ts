import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  createMetrics,
  ExpectedError,
  exitCodes,
  silentLogger,
  type Clock,
  type Random,
} from '@skerry/base'
import { nextDirectory, requireSamePods, type MovedNode } from '../node/next-identity.ts'
import { exists } from '../runtime/files.ts'
import { openNodeIdentity, pkiDirectory } from '../runtime/node-identity.ts'

export interface MoveNodeOptions extends MovedNode {
  readonly servers: readonly string[]
  readonly tokenFile: string
  readonly caHash: string
}

interface MoveNodeDeps {
  readonly clock: Clock
  readonly random: Random
  readonly print: (line: string) => void
}

/**
 * Prepares a node of this machine for another control plane, which it obeys from its next start on. The node goes on
 * meanwhile. Throws ExpectedError, and then nothing is prepared, if that control plane lacks a pod that runs here.
 */
export async function moveNode(
  options: MoveNodeOptions,
  { clock, random, print }: MoveNodeDeps,
  signal: AbortSignal,
): Promise<void> {
  const { nodeName, servers, tokenFile, caHash } = options
  if (!(await exists(join(pkiDirectory(options), 'server')))) {
    throw new ExpectedError(
      `Cannot move node ${nodeName}: no node has joined from ${options.dataDir}; pass the node's --data-dir, or join it with "skerry node"`,
      exitCodes.usage,
    )
  }
  const dataDir = nextDirectory(options)
  const context = { clock, random, metrics: createMetrics(), log: silentLogger, signal }
  await rm(dataDir, { recursive: true, force: true })
  try {
    await openNodeIdentity({ dataDir, nodeName, servers, tokenFile, caHash }, context)
    await requireSamePods(options, context)
  } catch (error) {
    await rm(dataDir, { recursive: true, force: true })
    throw error
  }
  print(`node ${nodeName} obeys ${servers.join(', ')} from its next start on; its containers go on`)
}
