import { join } from 'node:path'
import type { ClusterClient } from '@skerry/client'
import { openAdminCluster } from '../admin/admin-cluster.ts'
import { machineBounds } from './limits-table.ts'

/** Opens the site on this machine; the signal bounds the whole of a short command. */
export async function openOwnSite(
  dataDir: string,
): Promise<{ cluster: ClusterClient; signal: AbortSignal }> {
  const { cluster } = await openAdminCluster(join(dataDir, 'admin.kubeconfig'))
  return { cluster, signal: AbortSignal.timeout(machineBounds.requestMsMax) }
}
