import type { ControllerContext } from '@skerry/controller-runtime'
import {
  type EdgeCluster,
  type EdgeClusterPhase,
  type EdgeClusterStatus,
  edgeClusterResource,
} from '../kind/edge-cluster.ts'
import { ifSame } from './if-same.ts'

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
  const { namespace = '', name = '', uid = '' } = edge.metadata
  // A merge removes what is null: the plan of a check that has become a cluster, programs of machines that have left.
  const { plan = null } = status
  const gone = programsGone(edge, status)
  const written = { ...status, plan, ...gone, ...(phase === undefined ? {} : { phase }) }
  const patch = { metadata: { uid }, status: written }
  const client = context.client(edgeClusterResource)
  await ifSame(client.patchStatus({ namespace, name, type: 'merge', patch }, signal))
}

/** Takes the versions of machines that have left out of the status; those of others stay. */
function programsGone(
  { status: before }: EdgeCluster,
  { machines = [] }: EdgeClusterStatus,
): { programs?: Record<string, null> } {
  const known = new Set(machines.map(({ address }) => address))
  const left = Object.keys(before?.programs ?? {}).filter((address) => !known.has(address))
  if (left.length === 0) return {}
  return { programs: Object.fromEntries(left.map((address) => [address, null])) }
}
