import { BlockList, isIP } from 'node:net'
import type { AnyObject, GroupResource } from '@skerry/api'
import { MappingRefusal } from '@skerry/cluster-agent'
import { textsOfPath } from './change-at.ts'
import { groupKindOf } from './group-kind.ts'

/** Reports whether a virtual cluster may have its services served at the address. */
export type ExternalAddresses = (address: string) => boolean

/**
 * Parses the addresses and blocks that an edge's operator permits, such as `192.0.2.7` and `192.0.2.16/28`.
 * Throws RangeError for any other text.
 */
export function parseExternalAddresses(texts: readonly string[]): ExternalAddresses {
  const permitted = new BlockList()
  for (const text of texts) {
    const [address = '', length] = text.split('/')
    const family = isIP(address)
    const bits = family === 4 ? 32 : 128
    const prefix = length === undefined ? bits : Number(length)
    const isBlock = length === undefined || /^\d{1,3}$/.test(length)
    if (family === 0 || !isBlock || prefix > bits) {
      throw new RangeError(
        `Cannot permit external address ${JSON.stringify(text)}: give an address or a block, as 192.0.2.16/28`,
      )
    }
    permitted.addSubnet(address, prefix, family === 4 ? 'ipv4' : 'ipv6')
  }
  return (address) => {
    const family = isIP(address)
    // A block contains an address in each of its forms; only the plain form is passed on.
    return family !== 0 && permitted.check(address, family === 4 ? 'ipv4' : 'ipv6')
  }
}

/** The fields of a manifest that name an address whose traffic the cluster takes. */
const paths: Readonly<Record<string, readonly string[]>> = Object.freeze({
  '/Service': ['spec.externalIPs.*', 'spec.loadBalancerIP', 'status.loadBalancer.ingress.*.ip'],
  'gateway.networking.k8s.io/Gateway': ['spec.addresses.*.value', 'status.addresses.*.value'],
})

const resources: readonly string[] = ['/services', 'gateway.networking.k8s.io/gateways']

/** Returns true for resources whose spec or status can name such addresses. */
export function namesAddresses({ group, resource }: GroupResource): boolean {
  return resources.includes(`${group}/${resource}`)
}

/**
 * The annotations by which load balancers are asked for an address, in any form: MetalLB, kube-vip, Cilium,
 * Calico, PureLB, LoxiLB and those of clouds, where the value may be the name of an address.
 */
export const addressAnnotations: ReadonlySet<string> = new Set([
  'io.cilium/lb-ipam-ips',
  'kube-vip.io/loadbalancerIPs',
  'lbipam.cilium.io/ips',
  'loxilb.io/secondaryIPs',
  'loxilb.io/staticIP',
  'metallb.io/loadBalancerIPs',
  'metallb.universe.tf/loadBalancerIPs',
  'networking.gke.io/load-balancer-ip-addresses',
  'projectcalico.org/loadBalancerIPs',
  'purelb.io/addresses',
  'service.beta.kubernetes.io/aws-load-balancer-eip-allocations',
  'service.beta.kubernetes.io/azure-load-balancer-ipv4',
  'service.beta.kubernetes.io/azure-load-balancer-ipv6',
  'service.beta.kubernetes.io/azure-pip-name',
])

/** kubectl's own note, which repeats whatever addresses the object has. */
export const notedByKubectl = 'kubectl.kubernetes.io/last-applied-configuration'

/**
 * Lists the addresses in annotations: those of known annotations, and any value of another annotation that is
 * an IP address, because no list covers every load balancer.
 */
function addressesAsked({ metadata: { annotations: given = {} } }: AnyObject): string[] {
  return Object.entries(given).flatMap(([key, value]) => {
    if (key === notedByKubectl) return []
    // Calico writes a list as JSON; the others separate it by commas.
    const texts = value.split(/[\s,;"'[\]]+/).filter((text) => text !== '')
    return addressAnnotations.has(key) ? texts : texts.filter((text) => isIP(text) !== 0)
  })
}

/**
 * Refuses a manifest by which traffic for an address would be taken that the edge does not permit: the
 * address may be a sibling's, and every node of the edge would take it.
 */
export function refuseExternalAddresses(
  manifest: AnyObject,
  isPermitted: ExternalAddresses = () => false,
): void {
  const named = paths[groupKindOf(manifest)]
  if (named === undefined) return
  const all = [...named.flatMap((path) => textsOfPath(manifest, path)), ...addressesAsked(manifest)]
  const refused = all.filter((address) => address !== '' && !isPermitted(address))
  if (refused.length === 0) return
  throw new MappingRefusal(
    `it takes traffic for ${[...new Set(refused)].join(', ')}, which its edge does not permit: leave out the address, or have the edge list it in spec.isolation.externalAddresses`,
  )
}
