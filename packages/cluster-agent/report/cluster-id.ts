import { resources, type ClusterClient } from '@skerry/client'

/**
 * Resolves with the cluster's identity, whatever its name: the UID of its namespace kube-system, as in
 * Karmada.
 */
export async function clusterIdOf(
  local: Pick<ClusterClient, 'resource'>,
  signal: AbortSignal,
): Promise<string> {
  const { metadata } = await local
    .resource(resources.namespaces)
    .get({ name: 'kube-system' }, signal)
  if (metadata.uid) return metadata.uid
  throw new Error('Cannot identify the cluster: namespace kube-system has no uid')
}
