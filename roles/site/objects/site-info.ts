import { StatusError, type GroupResource } from '@skerry/api'
import { goOnPastUnreadable, type Objects } from '@skerry/apiserver'
import { asError, isDiskFull, type Logger } from '@skerry/base'
import { ifThere, resources, type ClusterClient } from '@skerry/client'
import { parseEndpoint } from './control-plane-endpoint.ts'
import { putObject } from './put-object.ts'
import { advertisedServers } from './site-objects.ts'

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

const configMaps: GroupResource = { group: '', resource: 'configmaps' }
const key = Object.freeze({ namespace: 'kube-system', name: 'skerry-site' })

/** Publishes the facts for commands that print how a machine joins. A site without space for them starts all the same. */
export async function publishSiteInfo(
  objects: Objects,
  info: SiteInfo,
  log: Pick<Logger, 'error'>,
): Promise<void> {
  const data = { ...info, nodeMaskSize: String(info.nodeMaskSize) }
  const wanted = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key, data }
  try {
    await goOnPastUnreadable(log, () => putObject(objects, configMaps, wanted))
  } catch (error) {
    if (!(error instanceof StatusError) && !isDiskFull(error)) throw error
    log.error('Facts for new nodes were not published', { error: asError(error) })
  }
}

/** Resolves with the facts, or with undefined at a site of an earlier version. */
export async function readSiteInfo(
  cluster: ClusterClient,
  signal: AbortSignal,
): Promise<SiteInfo | undefined> {
  const found = await ifThere(cluster.resource(resources.configMaps).get(key, signal))
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
