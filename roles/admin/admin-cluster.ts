import { ExpectedError, exitCodes, systemClock, silentLogger } from '@skerry/base'
import {
  createCluster,
  createHttpsTransport,
  loadKubeconfig,
  type ClusterClient,
} from '@skerry/client'
import { codeOf } from '../runtime/data-directory.ts'
import { version } from '../runtime/version.ts'
import { wayOfKubeconfig } from '../runtime/way-to-hub.ts'
import { hubKubeconfig, type ChosenHub } from './chosen-hub.ts'
import { reachControlPlane } from './reach-control-plane.ts'

export interface AdminCluster {
  cluster: ClusterClient
  server: string
  caPem: string
}

/** The hub that is meant; one elsewhere is reached as kubectl reaches it, by a proxy where there is one. */
export async function openChosenHub(flags: ChosenHub): Promise<AdminCluster> {
  return openAdminCluster(hubKubeconfig(flags), { isElsewhere: flags.kubeconfig !== undefined })
}

/**
 * Opens a control plane through a kubeconfig file of ours, for commands that act on it. Throws ExpectedError
 * if the file does not exist; requests throw it if the server does not answer.
 */
export async function openAdminCluster(
  kubeconfigPath: string,
  { isElsewhere = false }: { readonly isElsewhere?: boolean } = {},
): Promise<AdminCluster> {
  const environment = process.env
  const target = await loadKubeconfig(
    kubeconfigPath,
    {},
    { clock: systemClock, environment },
  ).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error
    const help = isElsewhere
      ? 'pass another --kubeconfig, or make one with "skerry login" or "skerry kubeconfig"'
      : 'name the directory of a running one with --data-dir'
    const text = `Cannot reach the control plane: there is no ${kubeconfigPath}; ${help}`
    throw new ExpectedError(text, exitCodes.dataDirectory)
  })
  const way = isElsewhere
    ? await wayOfKubeconfig(target.transport, { clock: systemClock, environment })
    : undefined
  const transport = createHttpsTransport(
    {
      ...target.transport,
      ...(way?.described.proxy === undefined ? {} : { connect: way.connect }),
    },
    { clock: systemClock },
  )
  const reaching = reachControlPlane(transport, target.transport.server, systemClock)
  const cluster = createCluster(reaching, {
    log: silentLogger,
    clock: systemClock,
    userAgent: `skerry/${version}`,
  })
  return {
    cluster,
    server: target.transport.server,
    caPem: target.transport.certificateAuthority ?? '',
  }
}
