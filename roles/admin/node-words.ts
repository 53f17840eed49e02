import { edgeNetworkDefaults } from '@skerry/provisioning'
import type { SiteInfo } from './site-info.ts'

/** Returns the option that tells a line the name of the site. */
export function nameWords(info: SiteInfo | undefined): string[] {
  return info === undefined ? [] : ['--cluster', info.name]
}

/** Returns the options of a node for ranges that are not the default ones. */
export function networkWords(info: SiteInfo | undefined): string[] {
  return info === undefined ? [] : [...rangeWords(info), ...podsWords(info)]
}

/** Returns the options that a further master has in common with the others, unless they are the default ones. */
export function siteNetworkWords(info: SiteInfo | undefined): string[] {
  if (info === undefined) return []
  const { nodeMaskSize, controlPlaneEndpoint: endpoint } = info
  const mask = nodeMaskSize === 24 ? [] : ['--node-cidr-mask-size', String(nodeMaskSize)]
  const front = endpoint === undefined ? [] : ['--control-plane-endpoint', endpoint]
  return [...rangeWords(info), ...mask, ...front]
}

function rangeWords(info: SiteInfo): string[] {
  const { podCIDR, serviceCIDR, dnsDomain } = edgeNetworkDefaults
  return [
    ...(info.podCIDR === podCIDR ? [] : ['--cluster-cidr', info.podCIDR]),
    ...(info.serviceCIDR === serviceCIDR ? [] : ['--service-cidr', info.serviceCIDR]),
    ...(info.dnsDomain === dnsDomain ? [] : ['--cluster-domain', info.dnsDomain]),
  ]
}

/** A share has twice as many addresses as pods, so that an address is not given away again at once. */
function podsWords({ nodeMaskSize }: SiteInfo): string[] {
  const pods = 2 ** (31 - nodeMaskSize)
  return pods >= edgeNetworkDefaults.podsPerNode ? [] : ['--max-pods', String(pods)]
}
