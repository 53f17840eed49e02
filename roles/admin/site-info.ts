import { ifThere, resources, type ClusterClient } from '@skerry/client'
import { parseEndpoint } from './control-plane-endpoint.ts'

/** The facts of a site that each of its nodes must be started with. */
export interface SiteInfo {
  readonly name: string
  readonly podCIDR: string
  readonly serviceCIDR: string
  readonly dnsDomain: string
  /** The bits of each node's share of the addresses of pods. */
  readonly nodeMaskSize: number
  /** host:port of a virtual IP or a balancer before the masters. If omitted, there is none. */
  readonly controlPlaneEndpoint?: string
}

/** The ConfigMap in which a site publishes them. */
export const siteInfoKey = Object.freeze({ namespace: 'kube-system', name: 'skerry-site' })

/** Resolves with the facts, or with undefined at a site of an earlier version. */
export async function readSiteInfo(
  cluster: ClusterClient,
  signal: AbortSignal,
): Promise<SiteInfo | undefined> {
  const found = await ifThere(cluster.resource(resources.configMaps).get(siteInfoKey, signal))
  const { name, podCIDR, serviceCIDR, dnsDomain, nodeMaskSize } = found?.data ?? {}
  const isWhole = name && podCIDR && serviceCIDR && dnsDomain
  if (!isWhole) return undefined
  const controlPlaneEndpoint = parseEndpoint(found?.data?.controlPlaneEndpoint ?? '')
  return {
    name,
    podCIDR,
    serviceCIDR,
    dnsDomain,
    nodeMaskSize: Number(nodeMaskSize ?? 24),
    ...(controlPlaneEndpoint === undefined ? {} : { controlPlaneEndpoint }),
  }
}

/** Resolves with the addresses that clients dial: first the one before the masters, if there is one, then each master's. */
export async function clientServers(
  cluster: ClusterClient,
  info: SiteInfo | undefined,
  signal: AbortSignal,
): Promise<string[]> {
  const { controlPlaneEndpoint: endpoint } = info ?? {}
  const front = endpoint === undefined ? [] : [`https://${endpoint}`]
  const masters = await advertisedServers(cluster, signal)
  return [...front, ...masters.filter((server) => !front.includes(server))]
}

/** Resolves with the addresses at which a site's nodes reach its API servers: those that it published. */
export async function advertisedServers(
  cluster: ClusterClient,
  signal: AbortSignal,
): Promise<string[]> {
  const found = await cluster
    .resource(resources.endpoints)
    .get({ namespace: 'default', name: 'kubernetes' }, signal)
  const servers = (found.subsets ?? []).flatMap(({ addresses = [], ports }) =>
    addresses.map(({ ip }) => `https://${ip}:${ports?.[0]?.port ?? 6443}`),
  )
  return servers.length > 0 ? servers : ['https://127.0.0.1:6443']
}

/** Resolves with the authority that a cluster publishes to its pods; undefined if it publishes none. */
export async function publishedAuthority(
  cluster: ClusterClient,
  signal: AbortSignal,
): Promise<string | undefined> {
  const key = { namespace: 'kube-system', name: 'kube-root-ca.crt' }
  const found = await ifThere(cluster.resource(resources.configMaps).get(key, signal))
  return found?.data?.['ca.crt']
}
