/** The words for the network of a site: its ranges, and the addresses of its load balancers. */
import { InvalidArgumentError, Option, type Command } from 'commander'

/** The ranges and the domain of a cluster, as a site and its nodes have them, and the site's own words. */
export interface SiteNetworkFlags {
  clusterCidr: string
  serviceCidr: string
  clusterDomain: string
  nodeCidrMaskSize: number
  loadBalancer: 'nodes' | 'none'
}

export function withNetworkOptions(command: Command): Command {
  const balancing = new Option(
    '--load-balancer <who>',
    'source of the addresses of LoadBalancer services: nodes, or none if another program gives them',
  )
  return command
    .option('--cluster-cidr <range>', 'addresses of pods', '10.42.0.0/16')
    .option('--service-cidr <range>', 'addresses of services', '10.43.0.0/16')
    .option('--cluster-domain <name>', 'DNS domain of the cluster', 'cluster.local')
    .option(
      '--node-cidr-mask-size <bits>',
      "bits of each node's part of --cluster-cidr",
      toMask,
      24,
    )
    .addOption(balancing.choices(['nodes', 'none']).default('nodes'))
}

/** Parses the bits of a node's part; the pods of a node need at least a few addresses. */
function toMask(text: string): number {
  const bits = Number(text)
  if (Number.isInteger(bits) && bits >= 8 && bits <= 30) return bits
  throw new InvalidArgumentError('give a number from 8 to 30, e.g. 24 for 254 addresses')
}
