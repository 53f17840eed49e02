import { bootstrapNamespace, bootstrapSecretType, isStatusError } from '@skerry/api'
import { resources, type ClusterClient } from '@skerry/client'
import { agentTokenGroup, clusterResource } from '@skerry/fleet-kinds'
import { revokeAgent } from '@skerry/membership'
import { deleteKarmadaAccess } from './karmada-access.ts'

/**
 * Voids a cluster's agent's access: its certificates, and tokens with which it could get others. Resolves
 * with the number of those tokens.
 */
export async function shutOut(
  hub: ClusterClient,
  { name, nowMs }: { readonly name: string; readonly nowMs: number },
  signal: AbortSignal,
): Promise<number> {
  const tokens = await deleteTokens(hub, name, signal)
  await revokeAgent(hub, { cluster: name, nowMs }, signal)
  return tokens
}

/** Deletes the cluster, and Karmada's access to it. Resolves false if the hub has none. */
export async function deleteFromHub(
  hub: ClusterClient,
  name: string,
  signal: AbortSignal,
): Promise<boolean> {
  await deleteKarmadaAccess(hub, name, signal)
  try {
    await hub.resource(clusterResource).delete({ name }, signal)
    return true
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
    return false
  }
}

/** Deletes the cluster's tokens, with which an agent could register again. */
export async function deleteTokens(
  hub: ClusterClient,
  name: string,
  signal: AbortSignal,
): Promise<number> {
  const secrets = hub.resource(resources.secrets)
  const tokens = await tokensOf(hub, name, signal)
  for (const token of tokens) await secrets.delete(token, signal)
  return tokens.length
}

/** Returns the keys of the Secrets with tokens by which an agent of this cluster may register. */
export async function tokensOf(
  hub: ClusterClient,
  name: string,
  signal: AbortSignal,
): Promise<{ namespace: string; name: string }[]> {
  const secrets = hub.resource(resources.secrets)
  const request = { namespace: bootstrapNamespace, fieldSelector: `type=${bootstrapSecretType}` }
  const { items } = await secrets.list(request, signal)
  return items.flatMap(({ metadata, data }) => {
    const groups = Buffer.from(data?.['auth-extra-groups'] ?? '', 'base64').toString('utf8')
    if (!groups.split(',').includes(agentTokenGroup(name))) return []
    return [{ namespace: bootstrapNamespace, name: metadata.name ?? '' }]
  })
}
