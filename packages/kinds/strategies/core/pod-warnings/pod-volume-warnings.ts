import { quoteGo, type Volume, type VolumeProjection } from '@skerry/api'
import type { Loose } from '../../typed-strategy.ts'
import { warningsOfClaimSpec } from './claim-warnings.ts'
import { warningsOfVolumeSources } from './old-volumes.ts'

interface PlacedFile {
  readonly path: string
  readonly source: string
}

export function warningsOfPodVolumes(
  volumes: readonly Loose<Volume>[] = [],
  path: string,
): string[] {
  const ofSources = volumes.flatMap((volume, at) => {
    const field = `${path}[${at}]`
    const claim = volume.ephemeral?.volumeClaimTemplate?.spec
    return [
      ...warningsOfVolumeSources(volume, field),
      ...(claim ? warningsOfClaimSpec(claim, `${field}.ephemeral.volumeClaimTemplate.spec`) : []),
    ]
  })
  return [...ofSources, ...volumes.flatMap(warningsOfFiles)]
}

/** Warns of files that a volume places over or below each other. */
function warningsOfFiles({ name = '', configMap, secret, downwardAPI, projected }: Loose<Volume>) {
  const volume = `volume ${quoteGo(name)}`
  const warnings: string[] = []
  const add = (kind: string, files: readonly PlacedFile[]) => {
    const found = overlaps(files)
    warnings.push(...found.map((what) => `${volume} (${kind}): overlapping paths: ${what}`))
  }
  if (configMap?.items) add(`ConfigMap ${quoteGo(configMap.name ?? '')}`, filesOf(configMap.items))
  if (secret?.items) add(`Secret ${quoteGo(secret.secretName ?? '')}`, filesOf(secret.items))
  if (downwardAPI?.items) add('DownwardAPI', filesOf(downwardAPI.items))
  const sources = projected?.sources ?? []
  for (const source of sources) {
    if (Object.keys(source).length > 0) continue
    warnings.push(`${volume} (Projected) has no sources provided`)
  }
  if (projected) add('Projected', sources.flatMap(filesOfProjection))
  return warnings
}

function filesOf(items: readonly { readonly path?: string }[] = [], source = ''): PlacedFile[] {
  return items.map(({ path = '' }) => ({ path, source }))
}

function filesOfProjection(projection: Loose<VolumeProjection>): PlacedFile[] {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle } = projection
  if (configMap?.items)
    return filesOf(configMap.items, `ConfigMap ${quoteGo(configMap.name ?? '')}`)
  if (secret?.items) return filesOf(secret.items, `Secret ${quoteGo(secret.name ?? '')}`)
  if (downwardAPI?.items) return filesOf(downwardAPI.items, 'DownwardAPI')
  if (serviceAccountToken) return filesOf([serviceAccountToken], 'ServiceAccountToken')
  if (clusterTrustBundle) {
    const { name, signerName = '' } = clusterTrustBundle
    return filesOf([clusterTrustBundle], `ClusterTrustBundle ${quoteGo(name ?? signerName)}`)
  }
  const { certificateChainPath, credentialBundlePath, keyPath } = projection.podCertificate ?? {}
  return [
    { path: certificateChainPath ?? '', source: 'PodCertificate chain' },
    { path: keyPath ?? '', source: 'PodCertificate key' },
    { path: credentialBundlePath ?? '', source: 'PodCertificate credential bundle' },
  ]
}

function overlaps(files: readonly PlacedFile[]): string[] {
  const before: PlacedFile[] = []
  return files.flatMap((given) => {
    const file = { ...given, path: given.path.replace(/\/+$/, '') }
    if (!file.path) return []
    const hits = before.filter(
      ({ path }) => isAtOrBelow(path, file.path) || isAtOrBelow(file.path, path),
    )
    before.push(file)
    return hits.map((hit) => `${fileText(file)} with ${fileText(hit)}`)
  })
}

function isAtOrBelow(path: string, folder: string): boolean {
  return `${path}/`.startsWith(`${folder}/`)
}

function fileText({ path, source }: PlacedFile): string {
  return source ? `${quoteGo(path)} (${source})` : quoteGo(path)
}
