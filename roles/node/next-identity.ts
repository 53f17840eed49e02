import { readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { asError, ExpectedError, exitCodes, syncDirectory, withTimeout } from '@skerry/base'
import { createCluster, ifThere, resources, type ClusterClient } from '@skerry/client'
import { readStoredNode, removeStoredTokens, type StoredNode } from '@skerry/kubelet'
import { writeFileDurably } from '../runtime/data-directory.ts'
import { exists } from '../runtime/files.ts'
import { leftServersPath, openNodeIdentity, pkiDirectory } from '../runtime/node-identity.ts'
import type { RoleContext } from '../runtime/role-context.ts'
import { version } from '../runtime/version.ts'
import { copiesDirectory } from './copies-directory.ts'
import { nodeBounds } from './limits-table.ts'
import { faultsOfMove } from './moved-pods.ts'

const { answerMs } = nodeBounds.nextIdentity

/** The node whose control plane shall be another one. */
export interface MovedNode {
  readonly dataDir: string
  readonly nodeName: string
}

/** Returns the data directory of the identity that the node takes at its next start. */
export function nextDirectory({ dataDir }: Pick<MovedNode, 'dataDir'>): string {
  return join(dataDir, 'next')
}

/**
 * Takes the identity that was prepared for this node, if there is one and its control plane has every pod that runs here.
 * Otherwise the node keeps the one that it has, and looks again at its next start. Call it before the node starts.
 */
export async function takeNextIdentity(
  moved: MovedNode,
  context: Pick<RoleContext, 'clock' | 'random' | 'log' | 'metrics' | 'signal'>,
): Promise<void> {
  const dataDir = nextDirectory(moved)
  // The addresses are written last.
  if (!(await exists(join(pkiDirectory({ dataDir }), 'server')))) return
  const { log, signal } = context
  try {
    // Without a former identity, an earlier start was cut off after it had looked.
    if (await exists(pkiDirectory(moved))) await requireSamePods(moved, context)
  } catch (error) {
    signal.throwIfAborted()
    log.error('Node stays with its control plane', { error: asError(error) })
    return
  }
  await takeOver(moved)
  log.info('Node obeys another control plane', { node: moved.nodeName })
}

/** Throws ExpectedError unless the next control plane has every pod that runs here, and the same addresses for pods. */
export async function requireSamePods(
  moved: MovedNode,
  context: Pick<RoleContext, 'clock' | 'random' | 'log' | 'metrics' | 'signal'>,
): Promise<void> {
  const { clock, log, signal } = context
  const dataDir = nextDirectory(moved)
  const { nodeName } = moved
  const options = { dataDir, nodeName, servers: [], tokenFile: undefined, caHash: undefined }
  const identity = await openNodeIdentity(options, context)
  using transport = identity.open()
  const userAgent = `skerry-node/${version}`
  const cluster = createCluster(transport, { clock, log, userAgent })
  const known = await readStoredNode(join(moved.dataDir, 'kubelet'), log)
  const message = 'its control plane does not answer'
  const found = await withTimeout({ ms: answerMs, message, clock }, signal, (scope) =>
    readThere(cluster, nodeName, scope),
  )
  const faults = faultsOfMove(known, found)
  if (faults.length === 0) return
  throw new ExpectedError(
    `Cannot move node ${nodeName}: at the other control plane ${faults.join('; ')}`,
    exitCodes.failure,
  )
}

async function readThere(
  cluster: ClusterClient,
  name: string,
  signal: AbortSignal,
): Promise<StoredNode> {
  const node = await ifThere(cluster.resource(resources.nodes).get({ name }, signal))
  const request = { fieldSelector: `spec.nodeName=${name}` }
  const { items } = await cluster.resource(resources.pods).list(request, signal)
  return { node, pods: items }
}

/** May be cut off at any point: the next start goes on where it ended. */
async function takeOver(moved: MovedNode): Promise<void> {
  const { dataDir } = moved
  const current = pkiDirectory(moved)
  const next = nextDirectory(moved)
  await removeStoredTokens(join(dataDir, 'kubelet'))
  // Rights and revisions of one control plane mean nothing at another one.
  await rm(copiesDirectory(moved), { recursive: true, force: true })
  if (await exists(current)) {
    const left = await readFile(join(current, 'server'), 'utf8')
    await writeFileDurably(leftServersPath({ dataDir: next }), left)
    await rm(`${current}.before`, { recursive: true, force: true })
    await rename(current, `${current}.before`)
  }
  await rename(pkiDirectory({ dataDir: next }), current)
  await syncDirectory(dataDir)
  await rm(next, { recursive: true, force: true })
}
