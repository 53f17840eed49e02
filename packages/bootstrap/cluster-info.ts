import { timingSafeEqual } from 'node:crypto'
import type { BootstrapToken, ConfigMap } from '@skerry/api'
import { formatKubeconfig, parseKubeconfig } from '@skerry/client'
import { detachedSignature } from '@skerry/pki'

/** Where anyone may read how to reach the cluster. It is not secret, but signed with each token. */
export const clusterInfoKey = Object.freeze({ namespace: 'kube-public', name: 'cluster-info' })
const signaturePrefix = 'jws-kubeconfig-'

/** The data that a new machine needs about a cluster before it trusts it. */
export interface ClusterInfo {
  readonly server: string
  /** PEM, one or more certificates. */
  readonly authorityPem: string
}

/** Builds the ConfigMap as kubeadm does, signed with each of the tokens. */
export function clusterInfoConfigMap(
  info: ClusterInfo,
  tokens: readonly BootstrapToken[],
): ConfigMap {
  return signClusterInfo(
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...clusterInfoKey },
      data: { kubeconfig: kubeconfigText(info) },
    },
    tokens,
  )
}

/** Returns a copy with the signatures of these tokens, and without others. */
export function signClusterInfo(
  configMap: ConfigMap,
  tokens: readonly BootstrapToken[],
): ConfigMap {
  const content = configMap.data?.kubeconfig ?? ''
  const kept = Object.entries(configMap.data ?? {}).filter(
    ([key]) => !key.startsWith(signaturePrefix),
  )
  const signatures = tokens.map((token) => [
    `${signaturePrefix}${token.id}`,
    detachedSignature(content, token),
  ])
  return { ...configMap, data: Object.fromEntries([...kept, ...signatures]) }
}

/** Returns why a holder of this token cannot trust the ConfigMap, or undefined if it can. */
export function clusterInfoProblem(
  configMap: ConfigMap,
  token: BootstrapToken,
): 'unsigned' | 'forged' | undefined {
  const signature = configMap.data?.[`${signaturePrefix}${token.id}`]
  if (signature === undefined) return 'unsigned'
  const expected = Buffer.from(detachedSignature(configMap.data?.kubeconfig ?? '', token))
  const given = Buffer.from(signature)
  const isSame = given.length === expected.length && timingSafeEqual(given, expected)
  return isSame ? undefined : 'forged'
}

/** Returns undefined if the ConfigMap does not name the cluster's address. */
export function readClusterInfo(configMap: ConfigMap): ClusterInfo | undefined {
  const config = parseKubeconfig(configMap.data?.kubeconfig ?? '', 'cluster-info')
  const cluster = config.clusters?.[0]?.cluster
  const authority = cluster?.['certificate-authority-data']
  if (!cluster || authority === undefined) return undefined
  return { server: cluster.server, authorityPem: Buffer.from(authority, 'base64').toString('utf8') }
}

function kubeconfigText({ server, authorityPem }: ClusterInfo): string {
  const authority = Buffer.from(authorityPem).toString('base64')
  return formatKubeconfig({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: '', cluster: { server, 'certificate-authority-data': authority } }],
  })
}
