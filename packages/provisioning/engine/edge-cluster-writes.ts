import { isStatusError } from '@skerry/api'
import { ifThere } from '@skerry/client'
import type { ControllerContext } from '@skerry/controller-runtime'
import {
  type EdgeCluster,
  type EdgeClusterPhase,
  type EdgeClusterStatus,
  edgeClusterResource,
} from '../kind/edge-cluster.ts'

interface Scope {
  readonly context: ControllerContext
}

export async function writeFinalizers(
  edge: EdgeCluster,
  finalizers: string[],
  { context }: Scope,
  signal: AbortSignal,
): Promise<void> {
  const metadata = { ...edge.metadata, finalizers }
  await context.client(edgeClusterResource).update({ ...edge, metadata }, signal)
}

export async function writeStatus(
  edge: EdgeCluster,
  status: EdgeClusterStatus,
  { context }: Scope,
  signal: AbortSignal,
): Promise<void> {
  const isRemoval = edge.metadata.deletionTimestamp !== undefined
  const phase: EdgeClusterPhase | undefined =
    isRemoval && status.phase === 'Running' ? 'Deleting' : status.phase
  const { namespace = '', name = '' } = edge.metadata
  // A merge removes what is null: the plan of a check that has become a cluster.
  const { plan = null } = status
  const patch = { status: { ...status, plan, ...(phase === undefined ? {} : { phase }) } }
  const client = context.client(edgeClusterResource)
  await ifThere(client.patchStatus({ namespace, name, type: 'merge', patch }, signal))
}

/** Removes annotations whose wish is fulfilled. One that was written again meanwhile stays. */
export async function removeAsks(
  edge: EdgeCluster,
  done: readonly string[],
  { context }: Scope,
  signal: AbortSignal,
): Promise<void> {
  if (done.length === 0) return
  const { namespace = '', name = '', annotations = {} } = edge.metadata
  const path = (key: string): string => `/metadata/annotations/${key.replaceAll('/', '~1')}`
  const patch = done.flatMap((key) => [
    { op: 'test', path: path(key), value: annotations[key] },
    { op: 'remove', path: path(key) },
  ])
  try {
    await context
      .client(edgeClusterResource)
      .patch({ namespace, name, type: 'json', patch }, signal)
  } catch (error) {
    if (!isStatusError(error, 'Invalid') && !isStatusError(error, 'NotFound')) throw error
  }
}
