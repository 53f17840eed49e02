import { nodeIpamController } from '@skerry/controllers'
import { servedPodPeers } from '@skerry/service-proxy'
import { addressOf } from '../../runtime/host-addresses.ts'
import { ensureSiteObjects } from '../objects/site-objects.ts'
import type { SitePart } from '../contract/site-part.ts'

export interface NetworkOptions {
  clusterCidr: string
  serviceCidr: string
  clusterDomain: string
}

/** Gives pods and services their ranges, and makes the site's own services and rights. */
export function serviceNetwork({
  clusterCidr,
  serviceCidr,
  clusterDomain,
}: NetworkOptions): SitePart {
  const apiServiceIp = addressOf(serviceCidr, 1)
  return {
    sans: [...serviceNames(clusterDomain), apiServiceIp],
    // Nodes read pods of other nodes in this form alone.
    kinds: (builtin) => [servedPodPeers(builtin)],
    controllers: () => [nodeIpamController({ clusterCidr, nodeMaskSize: 24 })],
    async tasks({ server, objects, context: { log } }) {
      const port = Number(new URL(server.address).port || 443)
      const addresses = { serviceCidr, apiServiceIp, dnsServiceIp: addressOf(serviceCidr, 10) }
      await ensureSiteObjects(objects, { ...addresses, port }, log)
      return []
    },
  }
}

function serviceNames(clusterDomain: string): string[] {
  const inCluster = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc']
  return [...inCluster, `kubernetes.default.svc.${clusterDomain}`]
}
