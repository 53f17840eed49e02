import { join } from 'node:path'
import { systemClock } from '@skerry/base'
import { formatKubeconfig, loadKubeconfig, parseKubeconfig } from '@skerry/client'
import { readText } from '../../runtime/read-config-file.ts'
import { openAdminCluster } from '../../admin/admin-cluster.ts'
import { clientKubeconfig } from '../../runtime/kubeconfig-file.ts'
import { clientServers, readSiteInfo } from '../../admin/site-info.ts'

/**
 * Returns the administrator's kubeconfig of a site on this machine for use elsewhere: a context for each of its
 * masters, because a context has one server, after one for the address before them. Throws ExpectedError if no site is there, or it does not answer.
 */
export async function siteKubeconfig(siteDirectory: string, signal: AbortSignal): Promise<string> {
  const path = join(siteDirectory, 'admin.kubeconfig')
  const { cluster, caPem } = await openAdminCluster(path)
  const servers = await clientServers(cluster, await readSiteInfo(cluster, signal), signal)
  const deps = { clock: systemClock, environment: process.env }
  const { transport } = await loadKubeconfig(path, {}, deps)
  const { certificate = '', key = '' } = (await transport.credentials?.(signal)) ?? {}
  const { 'current-context': name = 'site' } = parseKubeconfig(await readText(path), path)
  const contexts = servers.map((server, at) => ({
    name: at === 0 ? name : `${name}-${new URL(server).host.replace(':', '-')}`,
    server,
  }))
  const identity = { caPem, certificatePem: certificate, keyPem: key, user: `${name}-admin` }
  return formatKubeconfig(clientKubeconfig(contexts, identity))
}
