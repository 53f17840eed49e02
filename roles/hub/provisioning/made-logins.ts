import { ifThere, resources, type ClusterClient } from '@skerry/client'
import {
  edgeClusterResource,
  jumpsOf,
  loginSecretLabel,
  type EdgeCluster,
} from '@skerry/provisioning'

/**
 * Removes the Secrets that commands have made for the machines of an EdgeCluster. One that another EdgeCluster names as
 * well stays, and so do all that people have made themselves.
 */
export async function removeMadeLogins(
  { metadata }: EdgeCluster,
  cluster: ClusterClient,
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '', name = '', uid } = metadata
  const secrets = cluster.resource(resources.secrets)
  const labelSelector = `${loginSecretLabel}=${name}`
  const { items: made } = await secrets.list({ namespace, labelSelector }, signal)
  if (made.length === 0) return
  const { items: edges } = await cluster.resource(edgeClusterResource).list({ namespace }, signal)
  const others = edges.filter((edge) => edge.metadata.uid !== uid)
  const used = new Set(others.flatMap(loginsOf))
  for (const secret of made) {
    const key = { namespace, name: secret.metadata.name ?? '' }
    if (!used.has(key.name)) await ifThere(secrets.delete(key, signal))
  }
}

function loginsOf({ spec, status }: EdgeCluster): string[] {
  const left = (status?.machines ?? []).flatMap(({ login }) => login ?? [])
  return [
    ...[...spec.machines, ...jumpsOf(spec)].map(({ credentials }) => credentials.name),
    ...left.flatMap(({ credentials, jump }) => [credentials, jump?.credentials.name ?? []].flat()),
  ]
}
