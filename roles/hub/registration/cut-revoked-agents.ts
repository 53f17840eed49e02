import type { Clock, Logger, Random } from '@skerry/base'
import { createInformer, resources, type ClusterClient } from '@skerry/client'
import { revocationsKey } from '@skerry/membership'
import type { TunnelRegistry } from '@skerry/tunnel'

/** Ends the tunnels of a cluster as soon as its agent is revoked; the agent cannot dial again. */
export async function cutRevokedAgents(
  cluster: ClusterClient,
  tunnels: Pick<TunnelRegistry, 'closeIdentity'>,
  deps: { clock: Clock; random: Random; log: Logger },
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name } = revocationsKey
  const client = cluster.resource(resources.configMaps)
  const informer = createInformer(
    client,
    { namespace, fieldSelector: `metadata.name=${name}` },
    deps,
  )
  const known = new Map<string, string>()
  using _listening = informer.onChange(({ object }) => {
    for (const [clusterName, before] of Object.entries(object.data ?? {})) {
      if (known.get(clusterName) === before) continue
      known.set(clusterName, before)
      // An agent that was revoked before the start needs no cut: nobody connects with an older certificate.
      if (informer.hasSynced()) tunnels.closeIdentity(clusterName, 'the agent was revoked')
    }
  })
  await informer.run(signal)
}
