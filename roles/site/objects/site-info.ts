import { StatusError, type GroupResource } from '@skerry/api'
import { goOnPastUnreadable, type Objects } from '@skerry/apiserver'
import { asError, isDiskFull, type Logger } from '@skerry/base'
import { ifThere, resources, type ClusterClient } from '@skerry/client'
import { putObject } from './put-object.ts'

/** The facts of a site that each of its nodes must be started with. */
export interface SiteInfo {
  readonly name: string
  readonly podCIDR: string
  readonly serviceCIDR: string
  readonly dnsDomain: string
  /** The bits of each node's share of the addresses of pods. */
  readonly nodeMaskSize: number
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
  return { name, podCIDR, serviceCIDR, dnsDomain, nodeMaskSize: Number(nodeMaskSize ?? 24) }
}
