import type { PersistentVolume, Pod, PodSpec, Volume } from '@skerry/api'
import type { Objects } from '../objects.ts'
import { listTyped } from '../typed-objects.ts'
import { wellKnown } from '../well-known-resources.ts'

/** What a node may reach because a pod that is bound to it uses it. */
export type ReachableKind =
  | 'configmaps'
  | 'secrets'
  | 'persistentvolumeclaims'
  | 'persistentvolumes'
  | 'serviceaccounts'
  | 'pods'
  | 'volumeattachments'
  | 'resourceclaims'

export interface Reachable {
  readonly kind: ReachableKind
  readonly namespace: string
  readonly name: string
}

/**
 * True when a pod on that node leads to the object. Looks at the namespace's pods as they are now
 * instead of keeping a graph: a node asks seldom, and what it may reach is never out of date.
 */
export function nodeReaches(objects: Objects, nodeName: string, target: Reachable): boolean {
  if (target.kind === 'persistentvolumes') return reachesVolume(objects, nodeName, target.name)
  if (target.kind === 'volumeattachments') return reachesAttachment(objects, nodeName, target.name)
  if (podsOn(objects, nodeName, target.namespace).some((pod) => podUses(pod, target))) return true
  return target.kind === 'secrets' && reachesVolumeSecret(objects, nodeName, target)
}

function podsOn(objects: Objects, nodeName: string, namespace?: string): Pod[] {
  return listTyped<Pod>(objects, wellKnown.pods, namespace).filter(
    (pod) => pod.spec?.nodeName === nodeName,
  )
}

function podUses(pod: Pod, { kind, name }: Reachable): boolean {
  const { spec } = pod
  if (!spec) return false
  switch (kind) {
    case 'pods':
      return pod.metadata.name === name
    case 'serviceaccounts':
      return spec.serviceAccountName === name
    case 'persistentvolumeclaims':
      return claimsOf(pod).includes(name)
    case 'secrets':
      return secretsOf(spec).has(name)
    case 'configmaps':
      return configMapsOf(spec).has(name)
    case 'resourceclaims':
      return resourceClaimsOf(pod).includes(name)
    case 'persistentvolumes':
    case 'volumeattachments':
      return false
  }
}

/** Names of the claims that a pod mounts; an ephemeral volume's claim is named after pod and volume. */
export function claimsOf(pod: Pod): string[] {
  return (pod.spec?.volumes ?? []).flatMap(({ persistentVolumeClaim, ephemeral, name }) => {
    if (persistentVolumeClaim) return [persistentVolumeClaim.claimName]
    return ephemeral ? [`${pod.metadata.name}-${name}`] : []
  })
}

function resourceClaimsOf(pod: Pod): string[] {
  const named = (pod.spec?.resourceClaims ?? []).flatMap((claim) => claim.resourceClaimName ?? [])
  const made = (pod.status?.resourceClaimStatuses ?? []).flatMap(
    (status) => status.resourceClaimName ?? [],
  )
  return [...named, ...made]
}

export function secretsOf(spec: PodSpec): Set<string> {
  const names = (spec.imagePullSecrets ?? []).map((reference) => reference.name)
  for (const container of containersOf(spec)) {
    names.push(...(container.envFrom ?? []).map((from) => from.secretRef?.name))
    names.push(...(container.env ?? []).map((env) => env.valueFrom?.secretKeyRef?.name))
  }
  for (const volume of spec.volumes ?? []) names.push(...secretsOfVolume(volume))
  return new Set(names.filter((name) => name !== undefined))
}

function secretsOfVolume(volume: Volume): (string | undefined)[] {
  return [
    volume.secret?.secretName,
    ...(volume.projected?.sources ?? []).map((source) => source.secret?.name),
    volume.azureFile?.secretName,
    volume.cephfs?.secretRef?.name,
    volume.cinder?.secretRef?.name,
    volume.csi?.nodePublishSecretRef?.name,
    volume.flexVolume?.secretRef?.name,
    volume.iscsi?.secretRef?.name,
    volume.rbd?.secretRef?.name,
    volume.scaleIO?.secretRef?.name,
    volume.storageos?.secretRef?.name,
  ]
}

function configMapsOf(spec: PodSpec): Set<string> {
  const names: (string | undefined)[] = []
  for (const container of containersOf(spec)) {
    names.push(...(container.envFrom ?? []).map((from) => from.configMapRef?.name))
    names.push(...(container.env ?? []).map((env) => env.valueFrom?.configMapKeyRef?.name))
  }
  for (const volume of spec.volumes ?? []) {
    names.push(volume.configMap?.name)
    names.push(...(volume.projected?.sources ?? []).map((source) => source.configMap?.name))
  }
  return new Set(names.filter((name) => name !== undefined))
}

function containersOf(spec: PodSpec) {
  return [...(spec.initContainers ?? []), ...spec.containers, ...(spec.ephemeralContainers ?? [])]
}

function reachesVolume(objects: Objects, nodeName: string, name: string): boolean {
  const volume = listTyped<PersistentVolume>(objects, wellKnown.persistentVolumes).find(
    (candidate) => candidate.metadata.name === name,
  )
  const claim = volume?.spec?.claimRef
  if (claim?.namespace === undefined || claim.name === undefined) return false
  return nodeReaches(objects, nodeName, {
    kind: 'persistentvolumeclaims',
    namespace: claim.namespace,
    name: claim.name,
  })
}

function reachesAttachment(objects: Objects, nodeName: string, name: string): boolean {
  const attachment = objects.get(wellKnown.volumeAttachments, '', name)
  const spec = attachment?.spec
  return (
    typeof spec === 'object' && spec !== null && 'nodeName' in spec && spec.nodeName === nodeName
  )
}

/** Secrets that a volume names for its driver, where the volume's claim is used on the node. */
function reachesVolumeSecret(objects: Objects, nodeName: string, target: Reachable): boolean {
  return listTyped<PersistentVolume>(objects, wellKnown.persistentVolumes).some((volume) => {
    const home = volume.spec?.claimRef?.namespace ?? ''
    const isNamed = volumeSecrets(volume).some(
      (secret) => secret.name === target.name && (secret.namespace ?? home) === target.namespace,
    )
    return isNamed && reachesVolume(objects, nodeName, volume.metadata.name ?? '')
  })
}

function volumeSecrets({ spec }: PersistentVolume): { name?: string; namespace?: string }[] {
  if (!spec) return []
  const references = [
    spec.csi?.controllerPublishSecretRef,
    spec.csi?.nodePublishSecretRef,
    spec.csi?.nodeStageSecretRef,
    spec.csi?.nodeExpandSecretRef,
    spec.cephfs?.secretRef,
    spec.cinder?.secretRef,
    spec.flexVolume?.secretRef,
    spec.iscsi?.secretRef,
    spec.rbd?.secretRef,
    spec.scaleIO?.secretRef,
    spec.storageos?.secretRef,
    spec.azureFile && {
      name: spec.azureFile.secretName,
      ...(spec.azureFile.secretNamespace ? { namespace: spec.azureFile.secretNamespace } : {}),
    },
  ]
  return references.filter((reference) => reference !== undefined)
}
