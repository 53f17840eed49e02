import { openAdminCluster } from '../../admin/admin-cluster.ts'
import { createKarmadaAccess, deleteKarmadaAccess } from '../../admin/karmada-access.ts'
import { advertised } from '../../runtime/host-addresses.ts'
import { askMs } from '../limits-table.ts'

export interface KarmadaManifestOptions {
  /** The kubeconfig of the hub's administrator. */
  kubeconfigPath: string
  name: string
  server: string | undefined
  ttlSeconds: number
  syncMode: 'Pull' | 'Push'
  output: string | undefined
}

/** The objects hold tokens: they go to the standard output alone. */
export async function printKarmadaManifest(options: KarmadaManifestOptions): Promise<void> {
  const { name, ttlSeconds, syncMode, output } = options
  const hub = await openAdminCluster(options.kubeconfigPath)
  const server = options.server ?? advertised(hub.server)
  const objects = await createKarmadaAccess(
    hub.cluster,
    { name, server, caPem: hub.caPem, ttlSeconds, syncMode },
    AbortSignal.timeout(askMs),
  )
  if (output === 'json') {
    console.log(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }))
    return
  }
  // YAML is a CommonJS package: the program's bundle has only its default export.
  const { default: yaml } = await import('yaml')
  console.log(objects.map((object) => yaml.stringify(object).trimEnd()).join('\n---\n'))
}

export async function revokeKarmadaAccess(options: KarmadaManifestOptions): Promise<void> {
  const { name, output } = options
  const hub = await openAdminCluster(options.kubeconfigPath)
  await deleteKarmadaAccess(hub.cluster, name, AbortSignal.timeout(askMs))
  if (output === 'json') console.log(JSON.stringify({ cluster: name, revoked: true }))
  else
    console.log(
      `Revoked Karmada's way to ${name}; "skerry cluster karmada-manifest" opens it again`,
    )
}
