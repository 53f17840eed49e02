import { ifThere, resources, type ClusterClient } from '@skerry/client'

/** A ConfigMap's entries; none where the hub has no such ConfigMap. */
export async function configMapData(
  hub: Pick<ClusterClient, 'resource'>,
  key: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const found = await ifThere(hub.resource(resources.configMaps).get(key, signal))
  return new Map(Object.entries(found?.data ?? {}))
}
