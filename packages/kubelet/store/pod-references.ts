import type { Pod } from '@skerry/api'
import { specOf } from '../pods/pod-spec.ts'

export type ReferenceKind =
  | 'configMaps'
  | 'secrets'
  | 'persistentVolumeClaims'
  | 'persistentVolumes'

export interface Reference {
  kind: ReferenceKind
  /** Empty for cluster-scoped kinds. */
  namespace: string
  name: string
}

export function referenceKey({ kind, namespace, name }: Reference): string {
  return `${kind}/${namespace}/${name}`
}

/** Every object that the pod's spec names: all that its node has to know, and nothing else. */
export function podReferences(pod: Pod): Reference[] {
  const spec = specOf(pod)
  const found = new Map<string, Reference>()
  const namespace = pod.metadata.namespace ?? ''
  const add = (kind: ReferenceKind, name: string | undefined): void => {
    if (!name) return
    const reference = { kind, namespace, name }
    found.set(referenceKey(reference), reference)
  }
  for (const { name } of spec.imagePullSecrets ?? []) add('secrets', name)
  const containers = [
    ...(spec.initContainers ?? []),
    ...spec.containers,
    ...(spec.ephemeralContainers ?? []),
  ]
  for (const { env = [], envFrom = [] } of containers) {
    for (const { valueFrom } of env) {
      add('configMaps', valueFrom?.configMapKeyRef?.name)
      add('secrets', valueFrom?.secretKeyRef?.name)
    }
    for (const { configMapRef, secretRef } of envFrom) {
      add('configMaps', configMapRef?.name)
      add('secrets', secretRef?.name)
    }
  }
  for (const volume of spec.volumes ?? []) {
    add('configMaps', volume.configMap?.name)
    add('secrets', volume.secret?.secretName)
    add('persistentVolumeClaims', volume.persistentVolumeClaim?.claimName)
    if (volume.ephemeral) add('persistentVolumeClaims', `${pod.metadata.name}-${volume.name}`)
    for (const source of volume.projected?.sources ?? []) {
      add('configMaps', source.configMap?.name)
      add('secrets', source.secret?.name)
    }
  }
  return [...found.values()]
}
