import { podReferences, type PersistentVolume, type Pod } from '@skerry/api'
import type { Objects } from '../contract/objects.ts'
import { listTyped } from '../contract/typed-objects.ts'
import { wellKnown } from '../contract/well-known-resources.ts'

/** The kinds that a node may read because a pod bound to it uses them. */
export type ReachableKind =
  | 'configmaps'
  | 'secrets'
  | 'persistentvolumeclaims'
  | 'persistentvolumes'
  | 'serviceaccounts'
  | 'pods'
  | 'volumeattachments'
  | 'resourceclaims'
  | 'resourceslices'

export interface Reachable {
  readonly kind: ReachableKind
  readonly namespace: string
  readonly name: string
}

/** The annotation of a mirror pod, with which a node shows one of its static pods. */
export const mirrorAnnotation = 'kubernetes.io/config.mirror'

export function isMirrorPod({ metadata }: Pod): boolean {
  return metadata.annotations?.[mirrorAnnotation] !== undefined
}

/**
 * Returns true if a pod on that node refers to the object. Searches the namespace's current pods
 * instead of keeping a graph: nodes ask seldom, and the result is never out of date.
 */
export function nodeReaches(objects: Objects, nodeName: string, target: Reachable): boolean {
  const { kind, namespace, name } = target
  if (kind === 'persistentvolumes') return reachesVolume(objects, nodeName, name)
  if (kind === 'volumeattachments') {
    return namesNode(objects.get(wellKnown.volumeAttachments, '', name), nodeName)
  }
  if (kind === 'resourceslices') {
    return namesNode(objects.get(wellKnown.resourceSlices, '', name), nodeName)
  }
  if (podsOn(objects, nodeName, namespace).some((pod) => leadsTo(pod, target))) return true
  return kind === 'secrets' && reachesVolumeSecret(objects, nodeName, target)
}

function podsOn(objects: Objects, nodeName: string, namespace?: string): Pod[] {
  return listTyped<Pod>(objects, wellKnown.pods, namespace).filter(
    (pod) => pod.spec?.nodeName === nodeName,
  )
}

function leadsTo(pod: Pod, { kind, name }: Reachable): boolean {
  if (kind === 'pods') return pod.metadata.name === name
  // The node itself created a mirror pod and must not gain rights by it.
  if (isMirrorPod(pod)) return false
  return podReferences(pod).some((each) => each.resource === kind && each.name === name)
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

function namesNode(object: object | undefined, nodeName: string): boolean {
  const spec: unknown = object !== undefined && 'spec' in object ? object.spec : undefined
  return (
    typeof spec === 'object' && spec !== null && 'nodeName' in spec && spec.nodeName === nodeName
  )
}

/** Checks secrets that a volume names for its driver, if the volume's claim is used on the node. */
function reachesVolumeSecret(objects: Objects, nodeName: string, target: Reachable): boolean {
  return listTyped<PersistentVolume>(objects, wellKnown.persistentVolumes).some((volume) => {
    const home = volume.spec?.claimRef?.namespace ?? ''
    const isNamed = volumeSecrets(volume).some(
      (secret) => secret.name === target.name && (secret.namespace ?? home) === target.namespace,
    )
    return isNamed && reachesVolume(objects, nodeName, volume.metadata.name ?? '')
  })
}

/** Returns the secrets that a kubelet needs, without those of the driver's controller. */
function volumeSecrets({ spec }: PersistentVolume): { name?: string; namespace?: string }[] {
  if (!spec) return []
  const references = [
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
