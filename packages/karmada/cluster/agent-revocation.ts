import {
  StatusError,
  isStatusError,
  type CertificateSigningRequest,
  type ConfigMap,
} from '@skerry/api'
import type { Authenticator, Objects, UserInfo } from '@skerry/apiserver'
import { resources, type Cluster as Api } from '@skerry/client'
import { readClientCertificate } from '@skerry/pki'
import { clusterOfAgent, virtualAgentOf } from './agent-identity.ts'
import { clusterNamespace } from './cluster.ts'

/** One entry per cluster: certificates of its agent that were issued before this time are void. */
export const revocationsKey = Object.freeze({ namespace: clusterNamespace, name: 'revoked-agents' })

export interface RevocationOptions {
  /** By how much certificates begin before they are issued, for clocks that are behind. */
  readonly backdateMs: number
}

/**
 * Refuses agents whose certificate was revoked. By time of issue and not by serial: a stolen
 * machine's certificates are void, whichever they are, and a new token makes a new start.
 */
export function refuseRevoked(
  inner: Authenticator,
  objects: Objects,
  { backdateMs }: RevocationOptions,
): Authenticator {
  return {
    async authenticate(credentials, signal) {
      const found = await inner.authenticate(credentials, signal)
      const [leaf] = credentials.clientCertificates
      const clusters = found ? clustersBehind(found.user) : []
      if (clusters.length === 0 || leaf === undefined) return found
      const { notBeforeMs } = readClientCertificate(leaf)
      const cluster = clusters.find((each) =>
        isRevoked(objects, { cluster: each, notBeforeMs, backdateMs }),
      )
      if (cluster === undefined) return found
      throw new StatusError('Unauthorized', 'Unauthorized', {
        cause: new Error(`Cannot authenticate: the agent of cluster "${cluster}" was revoked`),
      })
    },
  }
}

/** With whose revocation this user's certificate is void: a virtual cluster goes with its parent, too. */
function clustersBehind(user: Pick<UserInfo, 'name' | 'groups'>): readonly string[] {
  const own = clusterOfAgent(user)
  if (own !== undefined) return [own]
  const virtual = virtualAgentOf(user)
  return virtual ? [virtual.cluster, virtual.parent] : []
}

export interface IssuedCertificate extends RevocationOptions {
  readonly cluster: string
  readonly notBeforeMs: number
}

/** Whether a certificate of this cluster's agent was issued before its last revocation. */
export function isRevoked(
  objects: Objects,
  { cluster, notBeforeMs, backdateMs }: IssuedCertificate,
): boolean {
  const beforeMs = revokedBeforeMs(objects, cluster)
  return beforeMs !== undefined && notBeforeMs + backdateMs <= beforeMs
}

export function wasRevoked(objects: Objects, cluster: string): boolean {
  return revokedBeforeMs(objects, cluster) !== undefined
}

function revokedBeforeMs(objects: Objects, cluster: string): number | undefined {
  const { namespace, name } = revocationsKey
  const found = objects.get({ group: '', resource: 'configmaps' }, namespace, name)
  const data = found?.['data']
  if (typeof data !== 'object' || data === null) return undefined
  const text: unknown = Object.entries(data).find(([key]) => key === cluster)?.[1]
  return typeof text === 'string' ? Date.parse(text) : undefined
}

/**
 * The cluster that was revoked after its agent, or virtual cluster, had made this request; undefined where
 * none was. A certificate for it would begin after the revocation, and so be good. Times of objects and
 * certificates have whole seconds: what is of the revocation's own second came before it, here as there.
 */
export function revokedSince(
  { metadata, spec }: CertificateSigningRequest,
  revocations: ReadonlyMap<string, string>,
): string | undefined {
  const askedMs = Date.parse(metadata.creationTimestamp ?? '')
  const asker = { name: spec?.username ?? '', groups: spec?.groups ?? [] }
  return clustersBehind(asker).find((cluster) => {
    const revoked = revocations.get(cluster)
    return revoked !== undefined && !(askedMs > Date.parse(revoked))
  })
}

/** Voids every certificate that this cluster's agent has now. The hub then cuts its tunnel. */
export async function revokeAgent(
  hub: Api,
  { cluster, nowMs }: { cluster: string; nowMs: number },
  signal: AbortSignal,
): Promise<void> {
  const configMaps = hub.resource(resources.configMaps)
  const data = { [cluster]: new Date(nowMs).toISOString() }
  const request = { ...revocationsKey, type: 'merge' as const, patch: { data } }
  try {
    await configMaps.patch(request, signal)
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
    const fresh: ConfigMap = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...revocationsKey },
      data,
    }
    await configMaps.create(fresh, signal)
  }
}
