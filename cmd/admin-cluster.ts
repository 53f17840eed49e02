import { ExpectedError, exitCodes, systemClock, type Logger, silentLogger } from '@skerry/base'
import { createCluster, createHttpsTransport, loadKubeconfig, type Cluster } from '@skerry/client'
import { codeOf } from './data-directory.ts'
import { reachControlPlane } from './reach-control-plane.ts'
import { version } from './version.ts'

export interface AdminCluster {
  cluster: Cluster
  server: string
  caPem: string
}

/**
 * A control plane seen through a kubeconfig file of ours, for commands that act on it. Throws
 * ExpectedError when there is no such file; so do requests where nobody answers.
 */
export async function openAdminCluster(
  kubeconfigPath: string,
  log: Logger = silentLogger,
): Promise<AdminCluster> {
  const target = await loadKubeconfig(
    kubeconfigPath,
    {},
    { clock: systemClock, environment: process.env },
  ).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error
    throw new ExpectedError(
      `Cannot reach the control plane: there is no ${kubeconfigPath}; name the directory of a running one with --data-dir`,
      exitCodes.dataDirectory,
    )
  })
  const transport = createHttpsTransport(target.transport)
  const reaching = reachControlPlane(transport, target.transport.server, systemClock)
  const cluster = createCluster(reaching, {
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
