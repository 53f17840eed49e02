import { join } from 'node:path'
import { bootstrapNamespace, bootstrapSecretType, isStatusError } from '@skerry/api'
import { ExpectedError, exitCodes } from '@skerry/base'
import { resources } from '@skerry/client'
import { agentTokenGroup, clusterResource, revokeAgent } from '@skerry/karmada'
import { openAdminCluster, type AdminCluster } from './admin-cluster.ts'
import { deleteKarmadaAccess } from './karmada-access.ts'

interface OnHub {
  /** Of the hub. */
  dataDir: string
  output: string | undefined
}

const askMs = 30_000

function openHub({ dataDir }: OnHub): Promise<AdminCluster> {
  return openAdminCluster(join(dataDir, 'admin.kubeconfig'))
}

export async function revokeCluster(
  options: OnHub & { name: string; deletesObject: boolean },
): Promise<void> {
  const { name } = options
  const { cluster } = await openHub(options)
  const signal = AbortSignal.timeout(askMs)
  await deleteTokens(cluster, name, signal)
  await revokeAgent(cluster, { cluster: name, nowMs: Date.now() }, signal)
  if (options.deletesObject) {
    await deleteKarmadaAccess(cluster, name, signal)
    try {
      await cluster.resource(clusterResource).delete({ name }, signal)
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error
      throw new ExpectedError(`Cannot delete cluster "${name}": the hub has none`, exitCodes.usage)
    }
  }
  if (options.output === 'json') console.log(JSON.stringify({ cluster: name, revoked: true }))
  else
    console.log(
      `Revoked the agent of ${name}; "skerry cluster join-command ${name}" lets it in again`,
    )
}

/** Else whoever holds one could register anew. */
async function deleteTokens(
  hub: AdminCluster['cluster'],
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const secrets = hub.resource(resources.secrets)
  const request = { namespace: bootstrapNamespace, fieldSelector: `type=${bootstrapSecretType}` }
  const { items } = await secrets.list(request, signal)
  for (const { metadata, data } of items) {
    const groups = Buffer.from(data?.['auth-extra-groups'] ?? '', 'base64').toString('utf8')
    if (!groups.split(',').includes(agentTokenGroup(name))) continue
    await secrets.delete({ namespace: bootstrapNamespace, name: metadata.name ?? '' }, signal)
  }
}
