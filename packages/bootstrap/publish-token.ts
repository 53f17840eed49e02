import {
  bootstrapNamespace,
  bootstrapSecretType,
  isStatusError,
  parseBootstrapToken,
  type BootstrapToken,
  type ConfigMap,
  type Secret,
} from '@skerry/api'
import type { Clock } from '@skerry/base'
import { resources, type ClusterClient } from '@skerry/client'
import { bootstrapTokenSecret, type BootstrapTokenOptions } from './bootstrap-token-secret.ts'
import {
  clusterInfoConfigMap,
  clusterInfoKey,
  signClusterInfo,
  type ClusterInfo,
} from './cluster-info.ts'
import { bootstrapBounds } from './limits-table.ts'

const { triesMax } = bootstrapBounds.publishToken

/** Adds the token to the cluster and signs cluster-info with it, so that machines can join. */
export async function publishBootstrapToken(
  cluster: ClusterClient,
  options: BootstrapTokenOptions & { readonly info: ClusterInfo },
  deps: { readonly clock: Clock },
  signal: AbortSignal,
): Promise<void> {
  await cluster.resource(resources.secrets).create(bootstrapTokenSecret(options), signal)
  await refreshClusterInfo(cluster, options.info, deps, signal)
}

/** Writes the wanted cluster-info: these addresses, signed with every valid token. */
async function refreshClusterInfo(
  cluster: ClusterClient,
  info: ClusterInfo,
  { clock }: { readonly clock: Clock },
  signal: AbortSignal,
): Promise<void> {
  const configMaps = cluster.resource(resources.configMaps)
  for (let attempt = 1; ; attempt++) {
    const tokens = await signingTokens(cluster, clock.now(), signal)
    const wanted = clusterInfoConfigMap(info, tokens)
    try {
      const found = await findConfigMap(cluster, signal)
      if (!found) await configMaps.create(wanted, signal)
      else
        await configMaps.update(
          signClusterInfo({ ...found, data: wanted.data ?? {} }, tokens),
          signal,
        )
      return
    } catch (error) {
      const isRace = isStatusError(error, 'Conflict') || isStatusError(error, 'AlreadyExists')
      if (!isRace || attempt >= triesMax) throw error
    }
  }
}

async function findConfigMap(
  cluster: ClusterClient,
  signal: AbortSignal,
): Promise<ConfigMap | undefined> {
  try {
    return await cluster.resource(resources.configMaps).get(clusterInfoKey, signal)
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined
    throw error
  }
}

async function signingTokens(
  cluster: ClusterClient,
  nowMs: number,
  signal: AbortSignal,
): Promise<BootstrapToken[]> {
  const request = { namespace: bootstrapNamespace, fieldSelector: `type=${bootstrapSecretType}` }
  const { items } = await cluster.resource(resources.secrets).list(request, signal)
  return items.flatMap((secret) => readSigningToken(secret, nowMs) ?? [])
}

function readSigningToken(secret: Secret, nowMs: number): BootstrapToken | undefined {
  const text = (key: string): string =>
    Buffer.from(secret.data?.[key] ?? '', 'base64').toString('utf8')
  const expiration = text('expiration')
  if (expiration !== '' && !(Date.parse(expiration) > nowMs)) return undefined
  if (text('usage-bootstrap-signing') !== 'true') return undefined
  return parseBootstrapToken(`${text('token-id')}.${text('token-secret')}`)
}
