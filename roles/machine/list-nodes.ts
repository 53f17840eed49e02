import { resources, type ClusterClient } from '@skerry/client'

/** A node of a site, with everything that distinguishes it from others. */
export interface KnownNode {
  readonly name: string
  readonly machineId: string
  readonly addresses: readonly string[]
}

/** Lists the nodes of a cluster. */
export async function listNodes(cluster: ClusterClient, signal: AbortSignal): Promise<KnownNode[]> {
  const { items } = await cluster.resource(resources.nodes).list({}, signal)
  return items.map(({ metadata, status }) => ({
    name: metadata.name ?? '',
    machineId: status?.nodeInfo?.machineID ?? '',
    addresses: (status?.addresses ?? []).map(({ address }) => address),
  }))
}
