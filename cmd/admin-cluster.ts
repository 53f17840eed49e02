import { systemClock, type Logger, silentLogger } from '@skerry/base'
import { createCluster, createHttpsTransport, loadKubeconfig, type Cluster } from '@skerry/client'
import { version } from './version.ts'

export interface AdminCluster {
  cluster: Cluster
  server: string
  caPem: string
}

/** A control plane seen through a kubeconfig file of ours, for commands that act on it. */
export async function openAdminCluster(
  kubeconfigPath: string,
  log: Logger = silentLogger,
): Promise<AdminCluster> {
  const target = await loadKubeconfig(
    kubeconfigPath,
    {},
    { clock: systemClock, environment: process.env },
  )
  const cluster = createCluster(createHttpsTransport(target.transport), {
    log,
    clock: systemClock,
    userAgent: `skerry/${version}`,
  })
  return {
    cluster,
    server: target.transport.server,
    caPem: target.transport.certificateAuthority ?? '',
  }
}
