import { ExpectedError, exitCodes } from '@skerry/base'
import { nodeIpamController } from '@skerry/controllers'
import { servedPodPeers } from '@skerry/service-proxy'
import { addressOf } from '../../runtime/host-addresses.ts'
import { endpointHost } from '../../admin/control-plane-endpoint.ts'
import { ensureSiteObjects } from '../objects/site-objects.ts'
import { publishSiteInfo } from '../objects/publish-site-info.ts'
import type { SitePart } from '../contract/site-part.ts'
import { readBlock } from '../units/node-block.ts'

export interface NetworkOptions {
  clusterCidr: string
  serviceCidr: string
  clusterDomain: string
  /** The bits of each node's share of the addresses of pods. Default: 24. */
  nodeCidrMaskSize?: number
  /** host:port of a virtual IP or a balancer before the masters. If omitted, there is none. */
  controlPlaneEndpoint?: string | undefined
}

interface ServedNetwork extends NetworkOptions {
  readonly name: string
  /** Resolves with the ranges that are set aside for units that are away. If omitted, there are none. */
  readonly unitBlocks?: (() => Promise<readonly string[]>) | undefined
}

/** Gives pods and services their ranges, and makes the site's own services and rights. */
export function serviceNetwork({
  clusterCidr,
  serviceCidr,
  clusterDomain,
  name,
  nodeCidrMaskSize = 24,
  controlPlaneEndpoint,
  unitBlocks = async () => [],
}: ServedNetwork): SitePart {
  const apiServiceIp = addressOf(serviceCidr, 1)
  requireRoom(clusterCidr, nodeCidrMaskSize)
  const frontHosts = controlPlaneEndpoint === undefined ? [] : [endpointHost(controlPlaneEndpoint)]
  return {
    sans: [...serviceNames(clusterDomain), apiServiceIp, ...frontHosts],
    // Nodes read pods of other nodes in this form alone.
    kinds: (builtin) => [servedPodPeers(builtin)],
    controllers: ({ store }) => {
      const room = async () => ({ within: await readBlock(store), without: await unitBlocks() })
      return [nodeIpamController({ clusterCidr, nodeMaskSize: nodeCidrMaskSize, room })]
    },
    async tasks({ server, objects, context: { log } }) {
      const port = Number(new URL(server.address).port || 443)
      const addresses = { serviceCidr, apiServiceIp, dnsServiceIp: addressOf(serviceCidr, 10) }
      await ensureSiteObjects(objects, { ...addresses, port }, log)
      const info = {
        name,
        podCIDR: clusterCidr,
        serviceCIDR: serviceCidr,
        dnsDomain: clusterDomain,
        nodeMaskSize: nodeCidrMaskSize,
        ...(controlPlaneEndpoint === undefined ? {} : { controlPlaneEndpoint }),
      }
      await publishSiteInfo(objects, info, log)
      return []
    },
  }
}

function requireRoom(clusterCidr: string, nodeCidrMaskSize: number): void {
  if (Number(clusterCidr.split('/')[1]) <= nodeCidrMaskSize) return
  throw new ExpectedError(
    `Cannot divide --cluster-cidr ${clusterCidr} among nodes: --node-cidr-mask-size ${nodeCidrMaskSize} gives each more than all of it`,
    exitCodes.usage,
  )
}

function serviceNames(clusterDomain: string): string[] {
  const inCluster = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc']
  return [...inCluster, `kubernetes.default.svc.${clusterDomain}`]
}
