import { resources, type Cluster as Api } from '@skerry/client'

/** Which cluster this is, whatever it is called: the UID of its namespace kube-system, as Karmada has it. */
export async function clusterIdOf(
  local: Pick<Api, 'resource'>,
  signal: AbortSignal,
): Promise<string> {
  const { metadata } = await local
    .resource(resources.namespaces)
    .get({ name: 'kube-system' }, signal)
  if (metadata.uid) return metadata.uid
  throw new Error('Cannot tell which cluster this is: namespace kube-system has no uid')
}
