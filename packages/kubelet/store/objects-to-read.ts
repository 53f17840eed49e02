import { podReferences, type PersistentVolume, type Pod, type PodReference } from '@skerry/api'

export type ReferenceKind =
  | 'configMaps'
  | 'secrets'
  | 'persistentVolumeClaims'
  | 'persistentVolumes'

export interface Reference {
  kind: ReferenceKind
  /** The namespace; empty for cluster-scoped kinds. */
  namespace: string
  name: string
}

export function referenceKey({ kind, namespace, name }: Reference): string {
  return `${kind}/${namespace}/${name}`
}

/**
 * The objects that a pod refers to and that this node reads to run it, each once. Secrets of volumes
 * that it cannot mount stay unread.
 */
export function objectsToRead(pod: Pod): Reference[] {
  const found = new Map<string, Reference>()
  for (const { resource, via, namespace, name } of podReferences(pod)) {
    const kind = kinds[resource]
    if (kind === undefined || name === '' || !read.has(via)) continue
    const reference = { kind, namespace, name }
    found.set(referenceKey(reference), reference)
  }
  return [...found.values()]
}

/** The secrets that a CSI driver needs to provide the volume on a node. */
export function secretsOfVolume({ spec }: PersistentVolume): Reference[] {
  const { csi } = spec ?? {}
  const named = [csi?.nodeStageSecretRef, csi?.nodePublishSecretRef, csi?.nodeExpandSecretRef]
  return named.flatMap((secret): Reference[] => {
    const { namespace, name } = secret ?? {}
    return namespace && name ? [{ kind: 'secrets', namespace, name }] : []
  })
}

const kinds: Readonly<Partial<Record<PodReference['resource'], ReferenceKind>>> = Object.freeze({
  configmaps: 'configMaps',
  secrets: 'secrets',
  persistentvolumeclaims: 'persistentVolumeClaims',
})

const read: ReadonlySet<PodReference['via']> = new Set([
  'imagePullSecrets',
  'env',
  'envFrom',
  'configMap',
  'secret',
  'projected',
  'csi',
  'persistentVolumeClaim',
  'ephemeral',
])
