import type { ControllerContext } from '@skerry/controller-runtime'
import { clusterResource, type Cluster } from '@skerry/fleet-kinds'

/** Writes the Cluster as it was read: rejects with Conflict if it was written meanwhile. */
export async function writeFinalizers(
  cluster: Cluster,
  finalizers: string[],
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const metadata = { ...cluster.metadata, finalizers }
  await context.client(clusterResource).update({ ...cluster, metadata }, signal)
}
