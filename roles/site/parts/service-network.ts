import { nodeIpamController } from '@skerry/controllers'
import { servedPodPeers } from '@skerry/service-proxy'
import { addressOf, hostAddresses } from '../../runtime/host-addresses.ts'
import { ensureSiteObjects } from '../objects/site-objects.ts'
import { publishSiteInfo } from '../objects/site-info.ts'
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
  name,
}: NetworkOptions & { readonly name: string }): SitePart {
  const apiServiceIp = addressOf(serviceCidr, 1)
  return {
    sans: [...serviceNames(clusterDomain), apiServiceIp],
    // Nodes read pods of other nodes in this form alone.
    kinds: (builtin) => [servedPodPeers(builtin)],
    controllers: () => [nodeIpamController({ clusterCidr, nodeMaskSize: 24 })],
    async tasks({ server, objects, context: { log } }) {
      const [advertiseAddress] = hostAddresses()
      const port = Number(new URL(server.address).port || 443)
      const addresses = { serviceCidr, apiServiceIp, dnsServiceIp: addressOf(serviceCidr, 10) }
      await ensureSiteObjects(objects, { ...addresses, advertiseAddress, port }, log)
      const info = {
        name,
        podCIDR: clusterCidr,
        serviceCIDR: serviceCidr,
        dnsDomain: clusterDomain,
      }
      await publishSiteInfo(objects, info, log)
      if (advertiseAddress === undefined) {
        const reason =
          'this machine has no IPv4 address but loopback; restart the site when it has one'
        log.info('Service kubernetes has no endpoint', { reason })
      }
      return []
    },
  }
}

function serviceNames(clusterDomain: string): string[] {
  const inCluster = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc']
  return [...inCluster, `kubernetes.default.svc.${clusterDomain}`]
}
