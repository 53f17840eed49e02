import type { CertificateSigningRequest, ConfigMap } from '@skerry/api'
import { ifThere, resources, type ClusterClient } from '@skerry/client'
import type { SigningRequest } from '@skerry/pki'
import {
  agentUserName,
  agentsGroup,
  clusterOfAgent,
  virtualAgentGroup,
  virtualAgentOf,
  type VirtualAgent,
  clusterNamespace,
  clusterResource,
  certificateExpiresKey,
  parentOf,
} from '@skerry/fleet-kinds'
import { virtualParentsKey } from '../rights/virtual-parent.ts'
import { isClientRequest } from './agent-request.ts'
import { revocationsKey } from './agent-revocation.ts'
import { configMapData } from './config-map-data.ts'

/** One entry per virtual cluster that was revoked and is accepted again, with the time. */
const acceptancesKey = Object.freeze({
  namespace: clusterNamespace,
  name: 'accepted-virtual-clusters',
})

/**
 * Returns the virtual cluster whose certificate its parent's agent, or the virtual cluster itself, requests;
 * undefined for every other request.
 */
export function virtualAgentAsked(
  { spec }: CertificateSigningRequest,
  request: SigningRequest,
): VirtualAgent | undefined {
  const asker = { name: spec?.username ?? '', groups: spec?.groups ?? [] }
  const wanted = virtualAgentOf({
    name: request.commonName ?? '',
    groups: request.organizations,
  })
  if (wanted === undefined) return undefined
  const itself = virtualAgentOf(asker)
  const isAskers =
    clusterOfAgent(asker) === wanted.parent ||
    (itself?.cluster === wanted.cluster && itself.parent === wanted.parent)
  const names = {
    commonName: agentUserName(wanted.cluster),
    organization: virtualAgentGroup(wanted.parent),
  }
  return isAskers && isClientRequest(spec?.usages ?? [], request, names) ? wanted : undefined
}

export type VirtualVerdict =
  | { readonly verdict: 'approve' }
  | { readonly verdict: 'deny' | 'wait'; readonly why: string }

/**
 * Judges a request for a virtual cluster's certificate. It is approved if the hub has the cluster as that
 * parent's, and allows the parent virtual clusters. A revoked one waits until a person accepts it again. A
 * renewal comes with a certificate issued since then, so it is approved.
 */
export async function judgeVirtualAgent(
  hub: Pick<ClusterClient, 'resource'>,
  { asked: { cluster, parent }, isRenewal }: { asked: VirtualAgent; isRenewal: boolean },
  signal: AbortSignal,
): Promise<VirtualVerdict> {
  const found = await ifThere(hub.resource(clusterResource).get({ name: cluster }, signal))
  if (found === undefined || parentOf(found) !== parent) {
    return { verdict: 'deny', why: `the hub has no virtual cluster "${cluster}" of "${parent}"` }
  }
  const parents = await configMapData(hub, virtualParentsKey, signal)
  if (parents.get(parent) !== 'allowed') {
    return { verdict: 'deny', why: `the hub does not allow "${parent}" virtual clusters` }
  }
  if (isRenewal) return { verdict: 'approve' }
  const revoked = (await configMapData(hub, revocationsKey, signal)).get(cluster)
  const accepted = (await configMapData(hub, acceptancesKey, signal)).get(cluster)
  const isOut = revoked !== undefined && !(Date.parse(accepted ?? '') >= Date.parse(revoked))
  return isOut ? { verdict: 'wait', why: 'it was revoked' } : { verdict: 'approve' }
}

/** Reports whether the virtual cluster itself asks, not its parent. */
export function isRenewalOfVirtual({ spec }: CertificateSigningRequest): boolean {
  const groups = spec?.groups ?? []
  return (
    !groups.includes(agentsGroup) &&
    virtualAgentOf({ name: spec?.username ?? '', groups }) !== undefined
  )
}

/** Allows its parent to request certificates for it again, even after a revocation. */
export async function acceptVirtualAgent(
  hub: Pick<ClusterClient, 'resource'>,
  { cluster, nowMs }: { readonly cluster: string; readonly nowMs: number },
  signal: AbortSignal,
): Promise<void> {
  const configMaps = hub.resource(resources.configMaps)
  const data = { [cluster]: new Date(nowMs).toISOString() }
  const patch = { ...acceptancesKey, type: 'merge' as const, patch: { data } }
  if (await ifThere(configMaps.patch(patch, signal))) return
  const fresh: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...acceptancesKey },
    data,
  }
  await configMaps.create(fresh, signal)
}

/** Notes on its Cluster when the certificate expires, for operators. */
export async function noteExpiry(
  hub: Pick<ClusterClient, 'resource'>,
  { cluster: name, notAfterMs }: { readonly cluster: string; readonly notAfterMs: number },
  signal: AbortSignal,
): Promise<void> {
  const clusters = hub.resource(clusterResource)
  const found = await ifThere(clusters.get({ name }, signal))
  const known = found?.metadata.annotations?.[certificateExpiresKey]
  // A request stays for a while after it was answered, and is looked at again.
  if (found === undefined || Date.parse(known ?? '') >= notAfterMs) return
  const annotations = { [certificateExpiresKey]: new Date(notAfterMs).toISOString() }
  const patch = { metadata: { annotations } }
  await ifThere(clusters.patch({ name, type: 'merge', patch }, signal))
}
